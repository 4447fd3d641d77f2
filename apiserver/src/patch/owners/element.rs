//! One step of a path: a field, an item with these keys, or an item of this value.

use super::schema::Schema;
use crate::schema::node::ListType;
use crate::schema::print;
use serde_json::{Map, Value};
use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    /// A field of a structure, or an entry of a map.
    Field(String),
    /// The item of a list that has these keys: JSON.
    Key(String),
    /// The item of a list that has this value: JSON.
    Value(String),
}

impl Element {
    /// The step to an item of a list. None if the list has no steps to its items, or the item lacks a key that has no
    /// default.
    pub(super) fn of_item(list: Schema<'_>, item: &Value) -> Option<Self> {
        match list.list() {
            ListType::Atomic => None,
            ListType::Set if item.is_object() || item.is_array() => None,
            ListType::Set => Some(Self::Value(item.to_string())),
            ListType::Map(keys) => {
                let fields = item.as_object()?;
                let value = |key: &String| fields.get(key).or_else(|| list.items().default_of(key));
                let named = keys.iter().map(|key| Some((key.clone(), value(key)?.clone())));
                let keys: Map<String, Value> = named.collect::<Option<_>>()?;
                Some(Self::Key(Value::Object(keys).to_string()))
            }
        }
    }

    /// The step as `fieldsV1` writes it.
    pub(super) fn encoded(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => format!("k:{keys}"),
            Self::Value(value) => format!("v:{value}"),
        }
    }

    /// Reads what [`encoded`](Self::encoded) wrote.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let canonical = |json: &str| serde_json::from_str::<Value>(json).ok().map(|value| value.to_string());
        match text.split_once(':')? {
            ("f", name) => Some(Self::Field(name.to_owned())),
            ("k", keys) => canonical(keys).map(Self::Key),
            ("v", value) => canonical(value).map(Self::Value),
            _ => None,
        }
    }
}

/// As messages show it.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parsed = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Value(value) => write!(f, "[={}]", plain(&parsed(value))),
            Self::Key(keys) => {
                let parsed = parsed(keys);
                let entries = parsed.as_object().into_iter().flatten();
                let shown: Vec<String> =
                    entries.map(|(name, value)| format!("{name}={}", plain(value))).collect();
                write!(f, "[{}]", shown.join(","))
            }
        }
    }
}

/// A value in a step, which messages show without braces.
fn plain(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let entries = fields.iter().map(|(name, field)| format!("{name}={}", plain(field)));
            entries.collect::<Vec<_>>().concat()
        }
        scalar => print::value(scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Element::Field("spec".to_owned()), ".spec")]
    #[case(Element::Value("\"a\"".to_owned()), "[=\"a\"]")]
    #[case(Element::Key(r#"{"a":"x","b":1}"#.to_owned()), "[a=\"x\",b=1]")]
    #[case(Element::Key(r#"{"a":{}}"#.to_owned()), "[a=]")]
    #[case(Element::Key(r#"{"a":{"b":[1,{"c":null}]}}"#.to_owned()), "[a=b=[1,c=null]]")]
    fn a_step_is_shown_as_the_api_server_shows_it(#[case] step: Element, #[case] shown: &str) {
        assert_eq!(step.to_string(), shown);
    }
}
