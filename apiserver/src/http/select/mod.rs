//! Selectors: which objects a list, a watch or a deletion of many is about.

mod fields;
mod labels;

use serde_json::Value;

use crate::registry::{Strategy, meta};
use crate::schema::Kind;
use crate::status::Refusal;

/// A condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    Above(String, i64),
    Below(String, i64),
}

/// Which objects are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    labels: Vec<Label>,
    /// Field, value, and whether it must be equal.
    fields: Vec<(String, String, bool)>,
}

impl Selector {
    /// Reads both selectors.
    pub(crate) fn parse(kind: &Kind, labels: &str, fields: &str) -> Result<Self, Refusal> {
        Self::read(labels, fields)?.of(kind)
    }

    /// Reads both selectors, of whatever kind they are.
    pub(crate) fn read(labels: &str, fields: &str) -> Result<Self, Refusal> {
        let labels = labels::parse(labels).map_err(Refusal::bad_request)?;
        Ok(Self { labels, fields: fields::parse(fields).map_err(Refusal::bad_request)? })
    }

    /// With the fields' names of the stored object, if objects of this kind can be selected by them.
    pub(crate) fn of(mut self, kind: &Kind) -> Result<Self, Refusal> {
        for (field, ..) in &mut self.fields {
            *field =
                stored_field(kind, field).ok_or_else(|| Refusal::bad_request(unknown_field(kind, field)))?;
        }
        Ok(self)
    }

    /// Whether all objects are meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The value that this field of the stored object must have, if there is one.
    pub(crate) fn wanted(&self, field: &str) -> Option<&str> {
        let mut equal = self.fields.iter().filter(|(_, _, equal)| *equal);
        equal.find(|(found, ..)| found == field).map(|(_, value, _)| value.as_str())
    }

    /// Whether `object`, in its stored form, is meant.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.iter().all(|label| label.matches(object))
            && self.fields.iter().all(|(field, value, equal)| (field_of(object, field) == *value) == *equal)
    }
}

impl Label {
    fn matches(&self, object: &Value) -> bool {
        let found = |key: &str| {
            let labels = meta::field(object, "labels")?;
            labels.get(key)?.as_str().map(str::to_owned)
        };
        let number = |key: &str| found(key).and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::In(key, values) => found(key).is_some_and(|value| values.contains(&value)),
            Self::NotIn(key, values) => found(key).is_none_or(|value| !values.contains(&value)),
            Self::Exists(key) => found(key).is_some(),
            Self::Missing(key) => found(key).is_none(),
            Self::Above(key, bound) => number(key).is_some_and(|value| value > *bound),
            Self::Below(key, bound) => number(key).is_some_and(|value| value < *bound),
        }
    }
}

/// The value of a field that can be selected by; empty if it is not there.
fn field_of(object: &Value, field: &str) -> String {
    let value = field.split('.').try_fold(object, |value, part| value.get(part));
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Kinds that can be selected by nothing special say so in other words.
fn unknown_field(kind: &Kind, field: &str) -> String {
    match Strategy::of(kind) {
        Strategy::Lease => {
            let field = crate::schema::print::quoted(field);
            format!("{field} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        }
        _ => format!("field label not supported: {field}"),
    }
}

/// The field of the stored object that `field` means, if objects of this kind can be selected by it.
fn stored_field(kind: &Kind, field: &str) -> Option<String> {
    const INVOLVED: [&str; 7] =
        ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
    let common = field == "metadata.name" || (field == "metadata.namespace" && kind.namespaced);
    let own = match Strategy::of(kind) {
        Strategy::Secret => (field == "type").then(|| field.to_owned()),
        Strategy::Namespace => {
            matches!(field, "status.phase" | "name").then(|| field.replace("name", "metadata.name"))
        }
        Strategy::Event => {
            let prefix = if kind.group.is_empty() { "involvedObject" } else { "regarding" };
            let inner = field.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            match (inner, field) {
                (Some(inner), _) if INVOLVED.contains(&inner) => Some(format!("involvedObject.{inner}")),
                (_, "reason" | "type") => Some(field.to_owned()),
                (_, "reportingController" | "reportingComponent") => Some("reportingComponent".to_owned()),
                (_, "source") => Some("source.component".to_owned()),
                _ => None,
            }
        }
        Strategy::Lease | Strategy::Custom | Strategy::Definition => None,
    };
    if common { Some(field.to_owned()) } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Catalogue;
    use serde_json::json;

    fn select(labels: &str, fields: &str) -> Result<bool, Refusal> {
        let catalogue = Catalogue::new().unwrap();
        let kind = catalogue.find("", "v1", "events").unwrap();
        let object = json!({
            "metadata": {"name": "a", "namespace": "n", "labels": {"x": "1", "y/z": "b"}},
            "involvedObject": {"kind": "Bucket"},
        });
        Ok(Selector::parse(kind, labels, fields)?.matches(&object))
    }

    #[test]
    fn objects_are_selected_by_labels() {
        for (selector, wanted) in [
            ("", true),
            ("x", true),
            ("!x", false),
            ("x=1", true),
            ("x==1", true),
            ("x = 2", false),
            ("x!=2", true),
            ("x in (1, 2)", true),
            ("x notin (1,2)", false),
            ("x in (1,2),y/z=b", true),
            ("q notin (1)", true),
            ("q!=1", true),
            ("x>0", true),
            ("x<1", false),
            ("!q,x", true),
        ] {
            assert_eq!(select(selector, ""), Ok(wanted), "{selector}");
        }
        for selector in ["a b", "-", "x=a b", "x=1,,", "x>a", "("] {
            assert!(select(selector, "").is_err(), "{selector}");
        }
    }

    #[test]
    fn objects_are_selected_by_fields() {
        for (selector, wanted) in [
            ("metadata.name=a", true),
            ("metadata.name!=a", false),
            ("metadata.namespace=n", true),
            ("involvedObject.kind==Bucket,involvedObject.name=", true),
            ("reason=x", false),
            ("metadata.name=a\\,b", false),
        ] {
            assert_eq!(select("", selector), Ok(wanted), "{selector}");
        }
        for selector in ["foo=x", "metadata.name", "regarding.kind=Bucket", "reason=a=b", "reason=\\a"] {
            assert!(select("", selector).is_err(), "{selector}");
        }
    }
}
