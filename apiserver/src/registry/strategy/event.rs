//! Events. The older group checks little; `events.k8s.io` wants new Events in the new form, and leaves old ones as they
//! are but for their series. Here, an Event is in the form of the core group.

use serde_json::{Value, json};

use super::super::{meta, metadata, names};
use crate::schema::{Cause, Kind, print};

fn text<'a>(event: &'a Value, field: &str) -> &'a str {
    event.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn is_set(event: &Value, field: &str) -> bool {
    event.get(field).is_some_and(|value| !value.is_null())
}

pub(super) fn check_create(kind: &Kind, event: &Value) -> Vec<Cause> {
    let mut causes = legacy(kind, event);
    if kind.group.is_empty() {
        return causes;
    }
    causes.extend(metadata::of_new_builtin(kind, event));
    causes.extend(series(event));
    if !is_set(event, "eventTime") {
        causes.push(Cause::required("eventTime", ""));
    }
    let class = text(event, "type");
    if class != "Normal" && class != "Warning" {
        causes.push(Cause::invalid("type", &json!(""), &format!("has invalid value: {class}")));
    }
    let source = event.get("source");
    let sourced = ["component", "host"].iter().any(|part| source.is_some_and(|source| is_set(source, part)));
    let counted = event.get("count").and_then(Value::as_i64).is_some_and(|count| count != 0);
    for (field, used) in [
        ("firstTimestamp", is_set(event, "firstTimestamp")),
        ("lastTimestamp", is_set(event, "lastTimestamp")),
        ("count", counted),
        ("source", sourced),
    ] {
        if used {
            causes.push(Cause::invalid(field, &json!(""), "needs to be unset"));
        }
    }
    causes
}

pub(super) fn check_update(kind: &Kind, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = legacy(kind, new);
    if kind.group.is_empty() {
        return causes;
    }
    causes.extend(metadata::of_updated_builtin(new, old));
    if new.get("series") != old.get("series") {
        causes.extend(series(new));
    }
    for (field, told) in [
        ("involvedObject", "involvedObject"),
        ("reason", "reason"),
        ("message", "message"),
        ("source", "source"),
        ("firstTimestamp", "firstTimestamp"),
        ("lastTimestamp", "lastTimestamp"),
        ("count", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        let [new, old] = [new, old].map(|event| within(event, field));
        if new != old {
            causes.push(Cause::invalid_shown(told, &new, "field is immutable"));
        }
    }
    causes
}

/// A field's value as a message shows it: as the real server has it inside, where structures are complete and their
/// fields have other names.
fn within(event: &Value, field: &str) -> String {
    let value = event.get(field).filter(|value| !value.is_null());
    let structure = |fields: &[(&str, &str)]| {
        let inner = |name: &str| text(value.unwrap_or(&Value::Null), name);
        let fields = fields.iter().map(|(shown, name)| format!("\"{shown}\":{}", json!(inner(name))));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    };
    match (field, value) {
        ("related" | "firstTimestamp" | "lastTimestamp" | "eventTime", None) => "null".to_owned(),
        ("involvedObject" | "related", _) => structure(&REFERENCE),
        ("source", _) => structure(&[("Component", "component"), ("Host", "host")]),
        ("count", None) => "0".to_owned(),
        (_, None) => "\"\"".to_owned(),
        (_, Some(value)) => print::value(value),
    }
}

const REFERENCE: [(&str, &str); 7] = [
    ("Kind", "kind"),
    ("Namespace", "namespace"),
    ("Name", "name"),
    ("UID", "uid"),
    ("APIVersion", "apiVersion"),
    ("ResourceVersion", "resourceVersion"),
    ("FieldPath", "fieldPath"),
];

fn series(event: &Value) -> Vec<Cause> {
    let Some(series) = event.get("series").filter(|series| !series.is_null()) else { return vec![] };
    let mut causes = Vec::new();
    if series.get("count").and_then(Value::as_i64).unwrap_or_default() < 2 {
        causes.push(Cause::invalid("series.count", &json!(""), "should be at least 2"));
    }
    if !is_set(series, "lastObservedTime") {
        causes.push(Cause::required("series.lastObservedTime", ""));
    }
    causes
}

/// What both groups check.
fn legacy(kind: &Kind, event: &Value) -> Vec<Cause> {
    let namespace = meta::text(event, "namespace");
    let involved = event.get("involvedObject").map_or("", |object| text(object, "namespace"));
    let mismatch =
        || Cause::invalid("involvedObject.namespace", &json!(involved), "does not match event.namespace");
    let mut causes = Vec::new();
    if is_set(event, "eventTime") {
        if involved.is_empty() && namespace != "default" && namespace != "kube-system" {
            causes.push(mismatch());
        }
        causes.extend(new_form(kind, event));
    } else if (involved.is_empty() && namespace != "default")
        || (!involved.is_empty() && involved != namespace)
    {
        causes.push(mismatch());
    }
    let wrong = names::subdomain(namespace).into_iter();
    causes.extend(wrong.map(|text| Cause::invalid("namespace", &json!(namespace), &text)));
    causes
}

/// What an Event with an `eventTime` must have.
fn new_form(kind: &Kind, event: &Value) -> Vec<Cause> {
    let controller = if kind.group.is_empty() { "reportingComponent" } else { "reportingController" };
    let mut causes = Vec::new();
    let reporter = text(event, "reportingComponent");
    if reporter.is_empty() {
        causes.push(Cause::required(controller, ""));
    }
    let wrong = names::qualified(reporter).into_iter();
    causes.extend(wrong.map(|text| Cause::invalid(controller, &json!(reporter), &text)));
    for (field, required, max) in [
        ("reportingInstance", true, 128),
        ("action", true, 128),
        ("reason", true, 128),
        ("message", false, 1024),
    ] {
        let value = text(event, field);
        if required && value.is_empty() {
            causes.push(Cause::required(field, ""));
        }
        if value.len() > max {
            causes.push(Cause::invalid(field, &json!(""), &format!("can have at most {max} characters")));
        }
    }
    causes
}
