//! The rules that the metadata of every object follows.

use serde_json::{Value, json};

use super::{meta, names};
use crate::schema::{Cause, CauseReason, Kind};

/// The most that keys and values of all annotations may have together, in bytes.
const ANNOTATIONS_MAX: u64 = 256 * 1024;

/// Kubernetes' own finalizers.
const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

/// How the names of a kind are checked.
pub(crate) fn name_check(kind: &Kind) -> fn(&str) -> Vec<String> {
    match (kind.builtin, kind.plural.as_str()) {
        (true, "namespaces") => names::label,
        _ => names::subdomain,
    }
}

/// What is wrong with the metadata of a new object.
pub(crate) fn of_new(kind: &Kind, object: &Value, check: fn(&str) -> Vec<String>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (generate, name) = (meta::text(object, "generateName"), meta::text(object, "name"));
    if !generate.is_empty() {
        causes.extend(invalid("metadata.generateName", generate, names::as_prefix(check, generate)));
    }
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else {
        causes.extend(invalid("metadata.name", name, check(name)));
    }
    let namespace = meta::text(object, "namespace");
    if kind.namespaced && namespace.is_empty() {
        causes.push(Cause::required("metadata.namespace", ""));
    } else if kind.namespaced {
        causes.extend(invalid("metadata.namespace", namespace, names::label(namespace)));
    } else if !namespace.is_empty() {
        causes.push(Cause::forbidden("metadata.namespace", "not allowed on this type"));
    }
    let generation = meta::number(object, "generation");
    if generation < 0 {
        let value = Value::from(generation);
        causes.push(Cause::invalid("metadata.generation", &value, "must be greater than or equal to 0"));
    }
    causes.extend(marks(object));
    causes.extend(owners(object));
    causes.extend(finalizers(object));
    causes
}

/// What is wrong with the metadata of an object that replaces another.
pub(crate) fn of_update(new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if meta::is_deleting(old) {
        causes.extend(new_finalizers(new, old));
    }
    if meta::number(new, "generation") < meta::number(old, "generation") {
        let value = Value::from(meta::number(new, "generation"));
        causes.push(Cause::invalid("metadata.generation", &value, "must not be decremented"));
    }
    for field in
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        let (now, before) = (meta::field(new, field), meta::field(old, field));
        if now != before {
            let empty = if matches!(field, "name" | "namespace" | "uid") { json!("") } else { Value::Null };
            causes.push(Cause::invalid(
                format!("metadata.{field}"),
                now.unwrap_or(&empty),
                "field is immutable",
            ));
        }
    }
    causes.extend(marks(new));
    causes.extend(owners(new));
    causes
}

/// The same of a new object of a kind that is built in.
pub(crate) fn of_new_builtin(kind: &Kind, object: &Value) -> Vec<Cause> {
    [of_new(kind, object, name_check(kind)), plain_finalizers(object)].concat()
}

/// The same of an object of a kind that is built in.
pub(crate) fn of_updated_builtin(new: &Value, old: &Value) -> Vec<Cause> {
    [of_update(new, old), plain_finalizers(new)].concat()
}

/// Finalizers without a domain must be Kubernetes' own.
fn plain_finalizers(object: &Value) -> Vec<Cause> {
    let all = meta::finalizers(object).into_iter().enumerate();
    all.filter_map(|(index, name)| plain_finalizer(&format!("metadata.finalizers[{index}]"), name)).collect()
}

/// What is wrong with a finalizer that has neither a domain nor one of Kubernetes' own names.
pub(crate) fn plain_finalizer(field: &str, name: &str) -> Option<Cause> {
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    let fits = name.contains('/') || STANDARD.contains(&name);
    (!fits).then(|| Cause::invalid(field, &Value::from(name), detail))
}

fn invalid(field: &str, value: &str, wrong: Vec<String>) -> impl Iterator<Item = Cause> {
    let (field, value) = (field.to_owned(), Value::from(value));
    wrong.into_iter().map(move |text| Cause::invalid(field.clone(), &value, &text))
}

/// Labels and annotations.
fn marks(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, value) in entries(object, "labels") {
        causes.extend(invalid("metadata.labels", key, names::qualified(key)));
        let value = value.as_str().unwrap_or_default();
        causes.extend(invalid("metadata.labels", value, names::label_value(value)));
    }
    let mut size = 0;
    for (key, value) in entries(object, "annotations") {
        causes.extend(invalid("metadata.annotations", key, names::qualified(&key.to_lowercase())));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if u64::try_from(size).is_ok_and(|size| size > ANNOTATIONS_MAX) {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATIONS_MAX));
    }
    causes
}

fn entries<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    meta::field(object, field).and_then(Value::as_object).into_iter().flatten()
}

fn owners(object: &Value) -> Vec<Cause> {
    const FIELD: &str = "metadata.ownerReferences";
    let mut causes = Vec::new();
    let mut controller: Option<String> = None;
    for owner in meta::owners(object) {
        let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
        for (field, detail) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            let value = text(field);
            if value.is_empty() || (field == "apiVersion" && value.ends_with('/')) {
                causes.push(Cause::invalid(format!("{FIELD}.{field}"), &Value::from(value), detail));
            }
        }
        if text("apiVersion") == "v1" && text("kind") == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            causes.push(Cause::invalid(FIELD, owner, detail));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let this = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                let all = meta::field(object, "ownerReferences").unwrap_or(&Value::Null);
                causes.push(Cause::invalid(FIELD, all, &detail));
            } else {
                controller = Some(this);
            }
        }
    }
    causes
}

/// What is wrong with the finalizers.
pub(crate) fn finalizers(object: &Value) -> Vec<Cause> {
    const FIELD: &str = "metadata.finalizers";
    let all = meta::finalizers(object);
    let mut causes: Vec<Cause> =
        all.iter().flat_map(|finalizer| invalid(FIELD, finalizer, names::qualified(finalizer))).collect();
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(FIELD, &json!(all), detail));
    }
    causes
}

fn new_finalizers(new: &Value, old: &Value) -> Option<Cause> {
    let before = meta::finalizers(old);
    let mut extra: Vec<&str> =
        meta::finalizers(new).into_iter().filter(|finalizer| !before.contains(finalizer)).collect();
    extra.sort_unstable();
    extra.dedup();
    if extra.is_empty() {
        return None;
    }
    let listed: Vec<String> = extra.iter().map(|text| crate::schema::print::quoted(text)).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        listed.join(", ")
    );
    Some(Cause::plain(CauseReason::Forbidden, "metadata.finalizers", &detail))
}

/// What an administrator should know about finalizers that are new in an object.
pub(crate) fn finalizer_warnings(new: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(meta::finalizers).unwrap_or_default();
    let mut added: Vec<&str> =
        meta::finalizers(new).into_iter().filter(|finalizer| !before.contains(finalizer)).collect();
    added.sort_unstable();
    added.dedup();
    let plain = added.into_iter().filter(|name| !name.contains('/') && !STANDARD.contains(name));
    plain
        .map(|name| {
            let form = if name.contains('.') { "including a path (/) " } else { "" };
            format!(
                "metadata.finalizers: {}: prefer a domain-qualified finalizer name {form}to avoid accidental conflicts with other finalizer writers",
                crate::schema::print::quoted(name)
            )
        })
        .collect()
}
