//! POST, PUT, PATCH and DELETE.

use std::sync::Arc;

use http::header;
use serde_json::{Value, json};

use super::decode::{self, Encoding};
use super::list::Page;
use super::patch::{Format, Patch};
use super::path::Target;
use super::query::{WriteOptions, delete_options};
use super::{Answer, Answered, Request, Selector, read};
use crate::patch::Writer;
use crate::registry::{Deleted, Part, State, Strategy, Write, Written, meta, view};
use crate::schema::Kind;
use crate::service::Shared;
use crate::status::Refusal;

/// How the body is written.
fn encoding(request: &Request, kind: &Kind) -> Result<Encoding, Refusal> {
    let content_type = request.header(header::CONTENT_TYPE);
    match content_type.split(';').next().unwrap_or_default().trim().to_lowercase().as_str() {
        "application/json" => Ok(Encoding::Json),
        "" if content_type.trim().is_empty() => Ok(Encoding::Json),
        "application/yaml" => Ok(Encoding::Yaml),
        "application/vnd.kubernetes.protobuf" if kind.builtin => Ok(Encoding::Protobuf),
        _ => Err(Refusal::unsupported_media_type(&["application/json", "application/yaml"])),
    }
}

/// A write in a locked state.
fn begin<'a>(
    shared: &'a Shared,
    state: &'a mut State,
    target: &'a Target,
    dry_run: bool,
    manager: &'a str,
) -> Write<'a> {
    let Target { kind, namespace, part, .. } = target;
    Write { dry_run, ..Write::new(shared, state, kind, namespace, *part, manager) }
}

/// The object in the form in which it is stored.
fn stored(shared: &Shared, kind: &Kind, object: Value) -> Value {
    match shared.catalogue.find("", "v1", "events") {
        Some(core) if view::is_needed(kind) => view::stored(core, &object),
        _ => object,
    }
}

pub(super) fn create(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let encoding = encoding(request, &target.kind)?;
    let options = WriteOptions::of(&request.query, "CreateOptions", false)?;
    let decoded = decode::object(&target.kind, &request.body, encoding, options.strictness)?;
    let object = stored(shared, &target.kind, decoded.object);
    let manager = request.manager(&options.manager);
    let mut warnings = decoded.warnings;
    let made = shared.write(|state| {
        if let Some(refusal) = decoded.refusal {
            return Err(refusal);
        }
        let mut write = begin(shared, state, target, options.dry_run, manager);
        write.crude = decoded.crude;
        let made = write.create(object);
        warnings.append(&mut write.warnings);
        made.map(|made| (made, true))
    });
    Ok(answered(shared, target, form, made, warnings))
}

/// The object as it was written, or why it was not. What the client should know is told either way.
fn answered(
    shared: &Shared,
    target: &Target,
    form: Answered,
    written: Result<Written, Refusal>,
    warnings: Vec<String>,
) -> Answer {
    let answer = match written {
        Ok((object, created)) => {
            let shown = read::shown(shared, &target.kind, &object, form);
            Answer::value(if created { 201 } else { 200 }, &shown, form.yaml)
        }
        Err(refusal) => Answer::refusal(&refusal, false),
    };
    answer.warnings(warnings)
}

pub(super) fn replace(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let options = WriteOptions::of(&request.query, "UpdateOptions", false)?;
    let encoding = encoding(request, &target.kind)?;
    let decoded = decode::object(&target.kind, &request.body, encoding, options.strictness)?;
    let object = stored(shared, &target.kind, decoded.object);
    let manager = request.manager(&options.manager);
    let mut warnings = decoded.warnings;
    let written = shared.write(|state| {
        if let Some(refusal) = decoded.refusal {
            return Err(refusal);
        }
        let mut write = begin(shared, state, target, options.dry_run, manager);
        write.crude = decoded.crude;
        let written = write.replace(&target.name, object);
        warnings.append(&mut write.warnings);
        written
    });
    Ok(answered(shared, target, form, written, warnings))
}

pub(super) fn change(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let format = Format::of(&target.kind, request.header(header::CONTENT_TYPE))?;
    let options = WriteOptions::of(&request.query, "PatchOptions", format == Format::Apply)?;
    let patch = Patch { format, body: &request.body, strictness: options.strictness };
    let manager = request.manager(&options.manager);
    let mut told = Vec::new();
    let written = shared.write(|state| {
        let mut write = begin(shared, state, target, options.dry_run, manager);
        let written = if format == Format::Apply {
            let writer = Writer { manager, subresource: target.part.name(), now: shared.clock().now() };
            write.apply(&target.name, &mut |live| {
                let live = live.map(|live| view::shown(&target.kind, live));
                let force = options.force.unwrap_or(false);
                let (object, crude) =
                    patch.applied(&target.kind, live.as_deref(), force, writer, &mut told)?;
                Ok((stored(shared, &target.kind, object), crude))
            })
        } else {
            let object = write.change(&target.name, &mut |live| {
                let decoded = patch.apply(&target.kind, &view::shown(&target.kind, live), &mut told)?;
                Ok((stored(shared, &target.kind, decoded.object), decoded.crude))
            });
            object.map(|object| (object, false))
        };
        told.append(&mut write.warnings);
        written
    });
    Ok(answered(shared, target, form, written, told))
}

pub(super) fn delete(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let body = options_in_body(request, &target.kind)?;
    let (options, dry_run) = delete_options(&request.query, body.as_ref())?;
    let orphan = body.as_ref().and_then(|body| body.get("orphanDependents")).and_then(Value::as_bool);
    let deleted =
        shared.write(|state| begin(shared, state, target, dry_run, "").delete(&target.name, &options))?;
    let kind = &target.kind;
    match deleted {
        Deleted::Gone(object) if !Strategy::of(kind).returns_deleted() => {
            Ok(Answer::value(200, &success(kind, &target.name, &object), form.yaml))
        }
        Deleted::Gone(object) => Ok(Answer::value(200, &read::shown(shared, kind, &object, form), form.yaml)),
        Deleted::Waiting(object) => {
            let code = if orphan == Some(false) { 202 } else { 200 };
            Ok(Answer::value(code, &read::shown(shared, kind, &object, form), form.yaml))
        }
    }
}

/// The options of a deletion, if the request has a body.
fn options_in_body(request: &Request, kind: &Kind) -> Result<Option<Value>, Refusal> {
    if request.body.is_empty() {
        return Ok(None);
    }
    encoding(request, kind)?;
    decode::options(&request.body).map(Some)
}

fn success(kind: &Kind, name: &str, object: &Value) -> Value {
    let mut details = json!({"name": name, "kind": kind.plural, "uid": meta::text(object, "uid")});
    if let (false, Some(details)) = (kind.group.is_empty(), details.as_object_mut()) {
        details.insert("group".to_owned(), Value::from(kind.group.clone()));
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

pub(super) fn delete_all(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    if Strategy::of(&target.kind) == Strategy::Namespace {
        return Err(Refusal::method_not_allowed());
    }
    let query = &request.query;
    let selector = Selector::parse(&target.kind, query.get("labelSelector"), query.get("fieldSelector"))?;
    let body = options_in_body(request, &target.kind)?;
    let (options, dry_run) = delete_options(query, body.as_ref())?;
    let page = shared.write(|state| {
        let page = Page::whole(state, target, selector)?;
        for object in page.objects() {
            let name = meta::text(object, "name").to_owned();
            begin(shared, state, &Target { part: Part::Main, ..target.clone() }, dry_run, "")
                .delete(&name, &options)?;
        }
        Ok(page)
    })?;
    Ok(page.answer(shared, &target.kind, form))
}
