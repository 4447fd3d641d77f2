//! Reading JSON without losing sight of keys that come twice.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::schema::print;

/// A key that comes twice in an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Twice {
    pub(crate) path: String,
    pub(crate) key: String,
}

impl Twice {
    /// What is said of it.
    pub(crate) fn text(&self) -> String {
        format!("duplicate field {}", print::quoted(&self.path))
    }
}

/// Reads a document. Of keys that come twice the last value counts; they are in the second result, each once.
pub(crate) fn parse(text: &[u8]) -> Result<(Value, Vec<Twice>), serde_json::Error> {
    let told = RefCell::new(Vec::new());
    let value = read(text, &told, Mode::Last)?;
    Ok((value, told.into_inner()))
}

/// As [`parse`], but the first value of a key counts.
pub(crate) fn parse_first(text: &[u8]) -> Result<Value, serde_json::Error> {
    read(text, &RefCell::new(Vec::new()), Mode::First)
}

/// The paths of all keys of a document, in their order and as often as they come.
pub(crate) fn keys(text: &[u8]) -> Vec<String> {
    let told = RefCell::new(Vec::new());
    // Whoever asks has read it before.
    let _ = read(text, &told, Mode::AllKeys);
    told.into_inner().into_iter().map(|key| key.path).collect()
}

fn read(text: &[u8], told: &RefCell<Vec<Twice>>, mode: Mode) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Seed { place: Place::Root, told, mode }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Where in the document we are. It becomes a text only where something is told of it.
#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Key(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn path(self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(around, key) => print::child(&around.path(), key),
            Self::Item(around, at) => print::index(&around.path(), at),
        }
    }
}

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The last value of each key, and the keys that come twice.
    Last,
    /// The first value of each key, and the keys that come twice.
    First,
    /// The last value of each key, and all keys.
    AllKeys,
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    place: Place<'a>,
    /// Keys: those that come twice, or all.
    told: &'a RefCell<Vec<Twice>>,
    mode: Mode,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is too large"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let place = Place::Item(&self.place, values.len());
            match items.next_element_seed(Seed { place, ..self })? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let place = Place::Key(&self.place, &key);
            let again = values.contains_key(&key);
            if self.mode == Mode::AllKeys || again {
                let found = Twice { path: place.path(), key: key.clone() };
                let mut told = self.told.borrow_mut();
                if self.mode == Mode::AllKeys || !told.contains(&found) {
                    told.push(found);
                }
            }
            let value = entries.next_value_seed(Seed { place, ..self })?;
            if !(again && self.mode == Mode::First) {
                values.insert(key, value);
            }
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_come_twice_are_found_and_the_last_one_counts() {
        let text = br#"{"a":1,"b":{"c":[{"d":1,"d":2}],"c.c":1},"a":3,"a":4}"#;
        let (value, doubled) = parse(text).unwrap();
        assert_eq!(value, json!({"a": 4, "b": {"c": [{"d": 2}], "c.c": 1}}));
        let found: Vec<(&str, &str)> =
            doubled.iter().map(|twice| (twice.path.as_str(), twice.key.as_str())).collect();
        assert_eq!(found, [("b.c[0].d", "d"), ("a", "a")]);
        assert_eq!(parse_first(text).unwrap(), json!({"a": 1, "b": {"c": [{"d": 1}], "c.c": 1}}));
        assert_eq!(keys(text), ["a", "b", "b.c", "b.c[0].d", "b.c[0].d", "b.c.c", "a", "a"]);
    }

    #[test]
    fn the_values_are_those_that_serde_json_reads() {
        for text in ["null", "[1,-1,1.5,1e3,18446744073709551615,\"\\u00e4\",true,false]", "{}", "[[],{}]"] {
            assert_eq!(parse(text.as_bytes()).unwrap().0, serde_json::from_str::<Value>(text).unwrap());
        }
    }

    #[test]
    fn a_document_that_is_nested_too_deeply_is_refused() {
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
