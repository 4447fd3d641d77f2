//! Selectors: which objects a list, a watch or a deletion of many is about.

use serde_json::Value;

use crate::registry::{Strategy, meta, names};
use crate::schema::{Kind, print};
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
        Ok(Self { labels: parse_labels(labels)?, fields: parse_fields(kind, fields)? })
    }

    /// Whether all objects are meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
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

/// Splits at commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut pieces) = (0_i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(text.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text.get(begin..).unwrap_or_default());
    pieces
}

fn parse_labels(text: &str) -> Result<Vec<Label>, Refusal> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    split(text).into_iter().map(|piece| parse_label(piece.trim())).collect()
}

fn parse_label(text: &str) -> Result<Label, Refusal> {
    let wrong = |why: String| Refusal::bad_request(format!("unable to parse requirement: {why}"));
    let key_end = text
        .find(|c: char| c.is_whitespace() || "=!<>(),".contains(c) && !(c == '!' && text.starts_with('!')));
    let (negated, rest) = match text.strip_prefix('!') {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    if negated {
        return checked_key(rest).map(|key| Label::Missing(key.to_owned()));
    }
    let Some(end) = key_end else { return checked_key(text).map(|key| Label::Exists(key.to_owned())) };
    let (key, rest) = text.split_at(end);
    let (key, rest) = (checked_key(key)?.to_owned(), rest.trim());
    for (sign, equal) in [("==", true), ("=", true), ("!=", false)] {
        if let Some(value) = rest.strip_prefix(sign) {
            let values = vec![checked_value(&key, value.trim())?.to_owned()];
            return Ok(if equal { Label::In(key, values) } else { Label::NotIn(key, values) });
        }
    }
    let number = |text: &str| {
        text.trim().parse().map_err(|_| {
            wrong(format!(
                "values[0][{key}]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                print::quoted(text.trim())
            ))
        })
    };
    match (rest.strip_prefix('>'), rest.strip_prefix('<')) {
        (Some(bound), _) => return Ok(Label::Above(key.clone(), number(bound)?)),
        (_, Some(bound)) => return Ok(Label::Below(key.clone(), number(bound)?)),
        _ => {}
    }
    let (word, list) = rest.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((rest, ""));
    let list = list.trim().trim_start_matches('(').trim_end_matches(')');
    let values: Vec<String> = list.split(',').map(|value| value.trim().to_owned()).collect();
    match word {
        "in" if rest.contains('(') => Ok(Label::In(key, values)),
        "notin" if rest.contains('(') => Ok(Label::NotIn(key, values)),
        _ => Err(wrong(format!("found '{word}', expected: in, notin, =, ==, !=, gt, lt"))),
    }
}

fn checked_key(key: &str) -> Result<&str, Refusal> {
    match names::qualified(key).first() {
        None => Ok(key),
        Some(why) => {
            let quoted = print::quoted(key);
            Err(Refusal::bad_request(format!(
                "unable to parse requirement: <nil>: Invalid value: {quoted}: {why}"
            )))
        }
    }
}

fn checked_value<'a>(key: &str, value: &'a str) -> Result<&'a str, Refusal> {
    match names::label_value(value).first() {
        None => Ok(value),
        Some(why) => {
            let quoted = print::quoted(value);
            Err(Refusal::bad_request(format!(
                "unable to parse requirement: values[0][{key}]: Invalid value: {quoted}: {why}"
            )))
        }
    }
}

fn parse_fields(kind: &Kind, text: &str) -> Result<Vec<(String, String, bool)>, Refusal> {
    let mut fields = Vec::new();
    for piece in text.split(',').filter(|piece| !piece.is_empty()) {
        let (field, value, equal) = if let Some((field, value)) = piece.split_once("!=") {
            (field, value, false)
        } else if let Some((field, value)) = piece.split_once("==") {
            (field, value, true)
        } else if let Some((field, value)) = piece.split_once('=') {
            (field, value, true)
        } else {
            return Err(Refusal::bad_request(format!(
                "invalid selector: '{text}'; can't understand '{piece}'"
            )));
        };
        let field = stored_field(kind, field)
            .ok_or_else(|| Refusal::bad_request(format!("field label not supported: {field}")))?;
        fields.push((field, value.to_owned(), equal));
    }
    Ok(fields)
}

/// The field of the stored object that `field` means, if objects of this kind can be selected by it.
fn stored_field(kind: &Kind, field: &str) -> Option<String> {
    const INVOLVED: [&str; 7] =
        ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
    let common =
        field == "metadata.name" || (field == "metadata.namespace" && (kind.namespaced || kind.builtin));
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
        ] {
            assert_eq!(select("", selector), Ok(wanted), "{selector}");
        }
        for selector in ["foo=x", "metadata.name", "regarding.kind=Bucket"] {
            assert!(select("", selector).is_err(), "{selector}");
        }
    }
}
