//! GET of many objects: a list, or a watch.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::page::Token;
use super::path::Target;
use super::{Answer, Answered, Form, Query, Request, Selector};
use crate::registry::{State, Strategy, key, names_one, resource, view};
use crate::schema::{Cause, Kind};
use crate::service::Shared;
use crate::status::Refusal;
use crate::store::{Compacted, Objects};
use crate::table;
use crate::watch::{Begin, Order, watch};

/// What a list or a watch asks for.
struct Options {
    selector: Selector,
    revision: Option<u64>,
    exact: bool,
    limit: usize,
    token: Option<Token>,
}

pub(super) fn all(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let query = &request.query;
    let watches = query.flag("watch");
    query.number("timeoutSeconds")?;
    query.number("limit")?;
    let written = Selector::read(query.get("labelSelector"), query.get("fieldSelector"))?;
    check(query, watches)?;
    // Whether objects can be selected by these fields is asked last.
    let selector = written.of(&target.kind)?;
    if watches {
        return changes(shared, query, target, selector, form);
    }
    let token = match query.get("continue") {
        "" => None,
        text => Some(Token::parse(text)?),
    };
    if token.is_some() && !["", "0"].contains(&query.get("resourceVersion")) {
        return Err(Refusal::bad_request("specifying resource version is not allowed when using continue"));
    }
    let revision = query.revision().map_err(|why| Refusal::bad_revision(&why))?;
    let limit = usize::try_from(query.number("limit")?.unwrap_or_default()).unwrap_or_default();
    // Before resourceVersionMatch was there, a limit made a revision exact, but not that of one object.
    let exact = match query.get("resourceVersionMatch") {
        "" => limit > 0 && revision.is_some_and(|revision| revision > 0) && only(target, &selector).is_none(),
        word => word == "Exact",
    };
    let options = Options { selector, revision, exact, limit, token };
    let page = Page::read(&shared.lock(), target, &options)?;
    Ok(page.answer(shared, &target.kind, form))
}

/// Which options go together.
fn check(query: &Query, watches: bool) -> Result<(), Refusal> {
    let causes = if watches { faults_of_watch(query) } else { faults_of_list(query) };
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid_of("meta.k8s.io", "ListOptions", "", &causes))
    }
}

const MATCH: &str = "resourceVersionMatch";
const NEWEST: &str = "NotOlderThan";
const CONTINUED: &str = "resourceVersionMatch is forbidden when continue is provided";

fn faults_of_list(query: &Query) -> Vec<Cause> {
    let (matched, revision) = (query.get(MATCH), query.get("resourceVersion"));
    let mut causes = Vec::new();
    if !matched.is_empty() {
        if revision.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            causes.push(Cause::forbidden(MATCH, why));
        }
        if !query.get("continue").is_empty() {
            causes.push(Cause::forbidden(MATCH, CONTINUED));
        }
        if !["Exact", NEWEST].contains(&matched) {
            let choices = ["Exact", NEWEST, ""].map(Value::from);
            causes.push(Cause::not_supported(MATCH, &Value::from(matched), &choices));
        }
        if matched == "Exact" && revision == "0" {
            let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            causes.push(Cause::forbidden(MATCH, why));
        }
    }
    if query.choice("sendInitialEvents").is_some() {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    causes
}

fn faults_of_watch(query: &Query) -> Vec<Cause> {
    let mut initial = query.choice("sendInitialEvents").is_some();
    let mut matched = query.get(MATCH);
    // A watch from anywhere begins with what is there, as if it had been asked for.
    if !initial && matched.is_empty() && ["", "0"].contains(&query.get("resourceVersion")) {
        (initial, matched) = (true, NEWEST);
    }
    let mut causes = Vec::new();
    if initial && matched != NEWEST {
        let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        causes.push(Cause::forbidden(MATCH, why));
    }
    if matched.is_empty() {
        return causes;
    }
    if !initial {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        causes.push(Cause::forbidden(MATCH, why));
    }
    if matched != NEWEST {
        causes.push(Cause::not_supported(MATCH, &Value::from(matched), &[Value::from(NEWEST)]));
    }
    if !query.get("continue").is_empty() {
        causes.push(Cause::forbidden(MATCH, CONTINUED));
    }
    causes
}

/// The namespace that a list is about; empty for all.
fn namespace<'a>(target: &'a Target, selector: &'a Selector) -> &'a str {
    if target.namespace.is_empty() {
        selector.wanted("metadata.namespace").unwrap_or_default()
    } else {
        &target.namespace
    }
}

/// The key of the one object that a list is about, if it is one. It is looked up rather than looked for, so that there
/// are no pages.
fn only(target: &Target, selector: &Selector) -> Option<String> {
    let name = selector.wanted("metadata.name").filter(|name| !name.is_empty())?;
    let namespace = namespace(target, selector);
    let known = target.kind.namespaced != namespace.is_empty() && names_one(name).is_ok();
    known.then(|| key(namespace, name))
}

/// What one answer to a list holds.
pub(super) struct Page {
    objects: Vec<Arc<Value>>,
    revision: u64,
    token: Option<String>,
    remaining: Option<usize>,
}

impl Page {
    /// All objects as they are now.
    pub(super) fn whole(state: &State, target: &Target, selector: Selector) -> Result<Self, Refusal> {
        Self::read(state, target, &Options { selector, revision: None, exact: false, limit: 0, token: None })
    }

    pub(super) fn objects(&self) -> &[Arc<Value>] {
        &self.objects
    }

    fn read(state: &State, target: &Target, options: &Options) -> Result<Self, Refusal> {
        let current = state.store.revision();
        let revision = match (&options.token, options.revision) {
            (Some(token), _) => u64::try_from(token.rv).unwrap_or(current),
            (None, Some(asked)) if asked > current => return Err(Refusal::too_new(asked, current)),
            (None, Some(asked)) if options.exact => asked,
            (None, _) => current,
        };
        // A list of whatever is at hand is not cut into pages. Events never are at hand: they are not cached.
        let cached = Strategy::of(&target.kind) != Strategy::Event;
        let limit = if options.revision == Some(0) && cached { 0 } else { options.limit };
        let resource = resource(&target.kind);
        let continued = options.token.is_some();
        let objects: Cow<'_, Objects> =
            state.store.at(&resource, revision).map_err(|gone| compacted(gone, revision, continued))?;
        // Where a list goes on is told by a place among all that the path is about, whatever is selected.
        let inside = if continued { target.namespace.as_str() } else { namespace(target, &options.selector) };
        let prefix = if inside.is_empty() { String::new() } else { format!("{inside}/") };
        let start =
            options.token.as_ref().map_or_else(String::new, |token| format!("{prefix}{}", token.start));
        let only = only(target, &options.selector).filter(|_| !continued);
        let mut listed = objects.iter().filter(|(key, _)| {
            let fits = only.as_deref().is_none_or(|only| only == &***key);
            fits && key.starts_with(&prefix) && ***key >= *start
        });
        let wanted = if limit == 0 { usize::MAX } else { limit };
        let matching = listed.by_ref().filter(|(_, object)| options.selector.matches(object));
        let page: Vec<_> = matching.take(wanted).collect();
        // Whether one of them matches is not looked at before somebody asks for them.
        let left = listed.count();
        let after = page.last().and_then(|(key, _)| key.strip_prefix(&prefix));
        let last = after.map(|after| Token::new(revision, after).text());
        Ok(Self {
            token: last.filter(|_| left > 0),
            remaining: (left > 0 && options.selector.is_empty()).then_some(left),
            objects: page.into_iter().map(|(_, object)| Arc::clone(object)).collect(),
            revision,
        })
    }

    /// The list in the form that is wanted.
    pub(super) fn answer(&self, shared: &Shared, kind: &Kind, form: Answered) -> Answer {
        let mut metadata = Map::new();
        metadata.insert("resourceVersion".to_owned(), Value::from(self.revision.to_string()));
        if let Some(token) = &self.token {
            metadata.insert("continue".to_owned(), Value::from(token.as_str()));
        }
        if let Some(remaining) = self.remaining {
            metadata.insert("remainingItemCount".to_owned(), Value::from(remaining));
        }
        let viewed: Vec<Cow<'_, Value>> =
            self.objects.iter().map(|object| view::shown(kind, object)).collect();
        let document = match form.form {
            Form::Table(include) => {
                let items: Vec<Value> = viewed.into_iter().map(Cow::into_owned).collect();
                table::table(kind, &items, &Value::Object(metadata), include, true, shared.clock().now())
            }
            Form::Metadata | Form::MetadataList => {
                let items: Vec<Value> = viewed.iter().map(|item| table::partial(item)).collect();
                // An empty list is null in Go.
                let items = if items.is_empty() { Value::Null } else { Value::Array(items) };
                let kind = "PartialObjectMetadataList";
                json!({"kind": kind, "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items})
            }
            Form::Objects | Form::Discovery => {
                if !kind.builtin {
                    metadata.entry("continue").or_insert_with(|| Value::from(""));
                }
                let items = viewed.iter().map(|object| Item { object, typed: !kind.builtin }).collect();
                let list = List { kind: &kind.list_kind, api_version: kind.api_version(), metadata, items };
                return Answer::value(200, &list, form.yaml);
            }
        };
        Answer::value(200, &document, form.yaml)
    }
}

/// A list on its way out. Its objects are written from where they are: a copy of thousands would cost more than all else.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    kind: &'a str,
    api_version: String,
    metadata: Map<String, Value>,
    items: Vec<Item<'a>>,
}

struct Item<'a> {
    object: &'a Value,
    /// Items of built-in lists do not repeat what the list says of their type.
    typed: bool,
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.object.as_object().into_iter().flatten();
        serializer.collect_map(
            fields.filter(|(name, _)| self.typed || !matches!(name.as_str(), "kind" | "apiVersion")),
        )
    }
}

fn compacted(gone: Compacted, asked: u64, continued: bool) -> Refusal {
    if continued {
        return Refusal::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
        );
    }
    Refusal::expired(format!(
        "The resourceVersion for the provided list is too old: {asked} ({})",
        gone.oldest
    ))
}

fn changes(
    shared: &Arc<Shared>,
    query: &Query,
    target: &Target,
    selector: Selector,
    form: Answered,
) -> Result<Answer, Refusal> {
    // Only here the same mistake is an internal error.
    let revision = query.revision().map_err(|why| Refusal::other(500, &why))?;
    let begin = match (query.choice("sendInitialEvents"), revision) {
        (Some(true), _) | (None, None | Some(0)) => Begin::Initial,
        (Some(false), None | Some(0)) => Begin::Now,
        (_, Some(revision)) => Begin::After(revision),
    };
    let seconds = query.number("timeoutSeconds")?.and_then(|seconds| u64::try_from(seconds).ok());
    let order = Order {
        kind: Arc::clone(&target.kind),
        namespace: target.namespace.clone(),
        selector,
        begin,
        bookmarks: query.flag("allowWatchBookmarks"),
        seconds: seconds.filter(|seconds| *seconds > 0),
        form,
    };
    Ok(Answer::stream(watch(shared, order)))
}
