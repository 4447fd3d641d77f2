//! Tables of the kinds that are built into Kubernetes.

use super::{Heading, age, name_column, text};
use crate::schema::Kind;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Name, priority and meaning of a column.
type Said = (&'static str, i32, &'static str);

const AGE: Said = ("Age", 0, "The time since the object was created.");

const NAMESPACE: [Said; 2] = [("Status", 0, "Whether the namespace is in use or being deleted."), AGE];

const SECRET: [Said; 3] = [
    ("Type", 0, "What the Secret is for, as programs understand it."),
    ("Data", 0, "The number of entries."),
    AGE,
];

const DEFINITION: [Said; 1] = [("Created At", 0, "When the definition was made.")];

const LEASE: [Said; 2] = [("Holder", 0, "Who holds the lease."), AGE];

const EVENT: [Said; 9] = [
    ("Last Seen", 0, "The time since the event happened last."),
    ("Type", 0, "Normal or Warning."),
    ("Reason", 0, "Why it was told, in one word."),
    ("Object", 0, "What it is about."),
    ("Subobject", 1, "The part of the object that it is about."),
    ("Source", 1, "Who tells it."),
    ("Message", 0, "What happened, for a person to read."),
    ("First Seen", 1, "The time since the event happened first."),
    ("Count", 1, "How often it happened."),
];

pub(super) fn columns(kind: &Kind) -> Vec<Heading> {
    match kind.plural.as_str() {
        "events" => headings(&EVENT).chain([name_column(1)]).collect(),
        "namespaces" => [name_column(0)].into_iter().chain(headings(&NAMESPACE)).collect(),
        "secrets" => [name_column(0)].into_iter().chain(headings(&SECRET)).collect(),
        "customresourcedefinitions" => [name_column(0)].into_iter().chain(headings(&DEFINITION)).collect(),
        _ => [name_column(0)].into_iter().chain(headings(&LEASE)).collect(),
    }
}

fn headings(said: &'static [Said]) -> impl Iterator<Item = Heading> {
    said.iter().map(|(name, priority, description)| Heading {
        name: (*name).to_owned(),
        kind: "string".to_owned(),
        format: "",
        description: (*description).to_owned(),
        priority: *priority,
    })
}

pub(super) fn cells(kind: &Kind, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = text(object, "/metadata/name");
    let age = age::since(text(object, "/metadata/creationTimestamp"), now);
    match kind.plural.as_str() {
        "events" => event(object, now),
        "namespaces" => vec![json!(name), json!(text(object, "/status/phase")), json!(age)],
        "secrets" => {
            let entries = object.get("data").and_then(Value::as_object).map_or(0, serde_json::Map::len);
            vec![json!(name), json!(text(object, "/type")), json!(entries), json!(age)]
        }
        "customresourcedefinitions" => vec![json!(name), json!(text(object, "/metadata/creationTimestamp"))],
        _ => vec![json!(name), json!(text(object, "/spec/holderIdentity")), json!(age)],
    }
}

/// The two groups name an event's fields differently, and only one of the names is there.
fn event(event: &Value, now: Timestamp) -> Vec<Value> {
    let either = |core: &str, events: &str| match text(event, core) {
        "" => text(event, events),
        found => found,
    };
    let first = match either("/firstTimestamp", "/deprecatedFirstTimestamp") {
        "" => text(event, "/eventTime"),
        found => found,
    };
    let mut last = match either("/lastTimestamp", "/deprecatedLastTimestamp") {
        "" => first,
        found => found,
    };
    let mut count = event.get("count").or_else(|| event.get("deprecatedCount")).cloned();
    if let Some(series) = event.get("series").filter(|series| series.is_object()) {
        last = text(series, "/lastObservedTime");
        count = Some(series.get("count").cloned().unwrap_or_else(|| json!(0)));
    }
    let kind = either("/involvedObject/kind", "/regarding/kind").to_lowercase();
    let target = match either("/involvedObject/name", "/regarding/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    vec![
        json!(age::since(last, now)),
        json!(text(event, "/type")),
        json!(text(event, "/reason")),
        json!(target),
        json!(either("/involvedObject/fieldPath", "/regarding/fieldPath")),
        json!(source(event)),
        json!(either("/message", "/note").trim()),
        json!(age::since(first, now)),
        count.unwrap_or_else(|| json!(1)),
        json!(text(event, "/metadata/name")),
    ]
}

fn source(event: &Value) -> String {
    let first = |pointers: [&str; 4]| {
        pointers
            .iter()
            .map(|pointer| text(event, pointer))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    };
    let component = first([
        "/source/component",
        "/deprecatedSource/component",
        "/reportingComponent",
        "/reportingController",
    ]);
    let instance = first(["/source/host", "/deprecatedSource/host", "/reportingInstance", ""]);
    if instance.is_empty() { component.to_owned() } else { format!("{component}, {instance}") }
}
