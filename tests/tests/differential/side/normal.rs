//! Puts names in place of what no two servers share.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::book::Book;
use crate::{call::Id, kinds::Kind};

static UID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap());
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?i:resource ?version)[^0-9:]*: |ResourceVersion in the precondition \(|in record \(";
    Regex::new(&format!(r"({before})\d+( \(\d+\)|, current: \d+)?")).unwrap()
});
/// A name that a server made up.
static GENERATED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(<pre>-(?:[gh]\d+-|Bad\d+_))[bcdfghjklmnpqrstvwxz2456789]{5}").unwrap());
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new("^[0-9]+[smh]([0-9]+[sm])?$").unwrap());
/// A whole object in a message: it depends on what is stored otherwise, field managers included.
static OBJECT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\{.*\\?"(?:metadata|apiVersion)\\?":.*(?:\}|\.\.\.)|map\[.*resourceVersion.*\]"#).unwrap()
});

impl Book {
    /// An answer's body: JSON if it is JSON, else text.
    pub(super) fn answer(&mut self, text: &str) -> Value {
        match serde_json::from_str(text) {
            Ok(json) => self.normal(json),
            Err(_) => Value::String(self.text(text)),
        }
    }

    /// An object, list, table or status.
    pub(super) fn normal(&mut self, mut json: Value) -> Value {
        self.learn(&json, "");
        self.replace(&mut json);
        json
    }

    /// Text in which names, uids, times and versions may stand.
    pub(super) fn text(&self, text: &str) -> String {
        let mut text =
            GENERATED.replace_all(&text.replace(&self.prefix, "<pre>"), "${1}<random>").into_owned();
        if let Some(object) = OBJECT.find(&text) {
            text.replace_range(object.range(), "<object>");
        }
        for time in self.times() {
            text = text.replace(time, "<time>");
        }
        let named = UID.replace_all(&text, |found: &Captures<'_>| {
            self.known_uid(&found[0]).cloned().unwrap_or_else(|| found[0].to_owned())
        });
        VERSION.replace_all(&named, "${1}<rv>").into_owned()
    }

    /// Names whatever is new in the objects of an answer. Items of a list may not say of which kind they are.
    fn learn(&mut self, json: &Value, list: &str) {
        if let Some(items) = json["items"].as_array().filter(|_| json["metadata"]["uid"].is_null()) {
            let kind = json["kind"].as_str().unwrap_or_default().trim_end_matches("List");
            let kind = format!("{kind} {}", json["apiVersion"].as_str().unwrap_or_default());
            for item in items {
                self.learn(item, &kind);
            }
            if let Some(token) = json["metadata"]["continue"].as_str() {
                token.clone_into(&mut self.token);
            }
        } else if let Some(rows) = json["rows"].as_array() {
            for row in rows {
                self.learn(&row["object"], "");
            }
        } else if json["metadata"]["uid"].is_string() {
            self.learn_object(json, list);
        } else if json["kind"] == "Status" && json["details"]["uid"].is_string() {
            let name = json["details"]["name"].as_str().unwrap_or_default();
            let id = Id::new(json["details"]["kind"].as_str().unwrap_or_default(), "", &self.text(name));
            self.name_uid(json["details"]["uid"].as_str().unwrap_or_default(), &id);
        }
    }

    fn learn_object(&mut self, json: &Value, list: &str) {
        let metadata = &json["metadata"];
        let field = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        for time in ["creationTimestamp", "deletionTimestamp"] {
            if let Some(time) = metadata[time].as_str() {
                self.remember_time(time);
            }
        }
        let (kind, version) = match (json["kind"].as_str(), json["apiVersion"].as_str()) {
            (Some(kind), Some(version)) => (kind, version),
            _ => list.split_once(' ').unwrap_or_default(),
        };
        let kind = Kind::find(kind, version);
        let tag = kind.map_or("any", Kind::tag);
        let id = Id::new(tag, &self.text(&field("namespace")), &self.text(&field("name")));
        self.name_uid(&field("uid"), &id);
        self.name_version(&field("resourceVersion"), &id);
        if kind.is_some() && json["kind"].is_string() {
            self.remember(&id, json);
        }
    }

    fn replace(&mut self, json: &mut Value) {
        match json {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item)),
            Value::Object(fields) => self.replace_fields(fields),
            _ => {}
        }
    }

    fn replace_fields(&mut self, fields: &mut Map<String, Value>) {
        let list = fields.contains_key("items") || fields.contains_key("rows");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            self.replace_metadata(metadata, list);
        }
        if fields.contains_key("columnDefinitions") {
            hide_ages(fields);
        }
        sort_causes(fields);
        let old = std::mem::take(fields);
        for (name, mut value) in old {
            self.replace(&mut value);
            fields.insert(self.text(&name), value);
        }
    }

    fn replace_metadata(&mut self, metadata: &mut Map<String, Value>, list: bool) {
        let set = |metadata: &mut Map<String, Value>, name: &str, value: &str| {
            if metadata.contains_key(name) {
                metadata.insert(name.to_owned(), value.into());
            }
        };
        if list {
            set(metadata, "resourceVersion", "<list rv>");
            set(metadata, "continue", "<continue>");
            return;
        }
        for time in ["creationTimestamp", "deletionTimestamp"] {
            if metadata.get(time).is_some_and(Value::is_string) {
                set(metadata, time, "<time>");
            }
        }
        if let Some(version) = metadata.get("resourceVersion").and_then(Value::as_str) {
            let name = if metadata.contains_key("uid") {
                self.name_version(version, &Id::new("any", "", ""))
            } else {
                "<bookmark rv>".to_owned()
            };
            set(metadata, "resourceVersion", &name);
        }
        if !self.managed_fields {
            metadata.remove("managedFields");
        }
        if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
            for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                set(entry, "time", "<time>");
            }
            // Their order depends on their times.
            entries.sort_by_key(Value::to_string);
        }
    }
}

/// The real server names several causes in no particular order.
fn sort_causes(status: &mut Map<String, Value>) {
    let Some(Value::Array(causes)) = status.get_mut("details").and_then(|details| details.get_mut("causes"))
    else {
        return;
    };
    causes.sort_by_key(Value::to_string);
    let several = causes.len() > 1;
    let conflict = causes.iter().any(|cause| cause["reason"] == "FieldManagerConflict");
    if let Some(Value::String(message)) = status.get_mut("message") {
        if conflict {
            let spread = message.replace("conflicts: ", "conflicts:\n");
            let mut lines: Vec<&str> = spread.lines().collect();
            lines.sort_unstable();
            *message = lines.join("\n");
        } else if let Some(end) = message.find("is invalid: [").filter(|_| several) {
            // It repeats the causes.
            message.truncate(end);
        }
    }
}

/// Ages in a table depend on when one looks.
fn hide_ages(table: &mut Map<String, Value>) {
    let names: Vec<String> = table["columnDefinitions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|column| column["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    let Some(rows) = table.get_mut("rows").and_then(Value::as_array_mut) else { return };
    for row in rows {
        let Some(cells) = row.get_mut("cells").and_then(Value::as_array_mut) else { continue };
        // Only the first table of a watch has headings.
        for cell in cells.iter_mut().filter(|_| names.is_empty()) {
            if cell.as_str().is_some_and(|text| AGE.is_match(text)) {
                *cell = "<age>".into();
            }
        }
        for (cell, name) in cells.iter_mut().zip(&names) {
            if ["Age", "Last Seen", "First Seen"].contains(&name.as_str()) && cell.is_string() {
                *cell = "<age>".into();
            }
        }
    }
}

#[test]
fn two_servers_say_the_same_if_only_their_own_numbers_differ() {
    let answer = |prefix: &str, uid: &str, version: &str, time: &str| {
        let mut book = Book::new(prefix);
        let object = serde_json::json!({ "apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": format!("{prefix}-x0"), "uid": uid, "resourceVersion": version, "creationTimestamp": time } });
        let message = format!("no {prefix}-x0 with {uid} since {time} and resourceVersion: {version}");
        [book.answer(&object.to_string()), book.answer(&message)]
    };
    let one = answer("z1", "5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5b", "17", "2026-01-02T03:04:05Z");
    let other = answer("z2", "5a1f2b3c-7d4e-4f60-8a9b-ffffffffffff", "1700", "2026-01-02T03:04:06Z");
    assert_eq!(one, other);
    assert!(one[1].to_string().contains("no <pre>-x0 with <uid secrets/-/x0 1> since <time>"), "{}", one[1]);
}

#[test]
fn a_version_that_changed_is_another_and_one_that_did_not_is_the_same() {
    let mut book = Book::new("z1");
    let object = |version: &str| serde_json::json!({ "metadata": { "name": "z1-x0", "uid": "u", "resourceVersion": version } });
    let versions =
        ["17", "18", "18"].map(|version| book.normal(object(version))["metadata"]["resourceVersion"].clone());
    assert_ne!(versions[0], versions[1]);
    assert_eq!(versions[1], versions[2]);
}
