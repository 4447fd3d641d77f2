//! Reading a value into a structure and writing it again.

use super::convert::{mismatch, whole};
use super::time::{Form, normalised};
use super::{Empty, Shape, Struct, bytes};
use crate::schema::print;
use serde_json::{Map, Number, Value};
use thiserror::Error;

/// A value that doesn't fit its structure. The texts are those of a real API server.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// A field of another type.
    #[error("json: cannot unmarshal {found} into Go struct field {structure}.{field} of type {wanted}")]
    Field {
        /// What is there.
        found: String,
        /// The structure's name.
        structure: &'static str,
        /// The fields from the root to here.
        field: String,
        /// What should be there.
        wanted: String,
    },
    /// A value of another type.
    #[error("json: cannot unmarshal {found} into Go value of type {wanted}")]
    Value {
        /// What is there.
        found: String,
        /// What should be there.
        wanted: String,
    },
    /// A text that hasn't the form of a point in time.
    #[error("parsing time {text} as {layout}: cannot parse {rest} as {part}")]
    Time {
        /// The text, quoted.
        text: String,
        /// The form that is wanted, quoted.
        layout: String,
        /// The rest of the text that doesn't fit, quoted.
        rest: String,
        /// What the form has there, quoted.
        part: String,
    },
    /// A text that has the form of a point in time and isn't one.
    #[error("parsing time {text}: {why}")]
    OddTime {
        /// The text, quoted.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value that can't be put into a structure, though it was parsed.
    #[error("{0}")]
    Unfit(String),
    /// A text that isn't base64.
    #[error("illegal base64 data at input byte {at}")]
    Base64 {
        /// The place in the text, in bytes.
        at: usize,
    },
}

/// The value as the structure writes it. Paths of fields that the structure doesn't have are added to `unknown`.
///
/// # Errors
/// A field has a value of another type.
pub(in crate::schema) fn read(
    structure: &Struct,
    value: &Value,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<Value, ReadError> {
    Reader { fields: Vec::new(), structure: None, unknown, converts: false, first: None }
        .root(structure, value, path)
}

/// As [`read`], of an object that isn't parsed but put from one structure into another: whole numbers that are too
/// large lose their upper bits.
///
/// # Errors
/// A field has a value of another type.
pub(in crate::schema) fn convert(
    structure: &Struct,
    value: &Value,
    unknown: &mut Vec<String>,
) -> Result<Value, ReadError> {
    Reader { fields: Vec::new(), structure: None, unknown, converts: true, first: None }
        .root(structure, value, "")
}

struct Reader<'a> {
    /// The names of the fields from the root to here.
    fields: Vec<&'static str>,
    /// The structure that we are in.
    structure: Option<&'static str>,
    unknown: &'a mut Vec<String>,
    /// Whether numbers are converted rather than parsed.
    converts: bool,
    /// The first value of another type. Go reads on after it: a time that can't be read is told instead.
    first: Option<ReadError>,
}

impl Reader<'_> {
    fn root(&mut self, structure: &Struct, value: &Value, path: &str) -> Result<Value, ReadError> {
        match value {
            Value::Null => Ok(self.zero_of(structure)),
            Value::Object(entries) => {
                let read = self.structure(structure, entries, path)?;
                self.first.take().map_or(Ok(read), Err)
            }
            other => Err(ReadError::Value {
                found: print::type_name(other).to_owned(),
                wanted: format!("v1.{}", structure.name),
            }),
        }
    }

    /// As [`fitting`](Self::fitting), but goes on after a value of another type if this is a parser.
    fn value(&mut self, shape: &Shape, value: &Value, path: &str) -> Result<Value, ReadError> {
        match self.fitting(shape, value, path) {
            Err(error)
                if !self.converts && !matches!(error, ReadError::Time { .. } | ReadError::OddTime { .. }) =>
            {
                self.first.get_or_insert(error);
                Ok(self.zero(shape))
            }
            result => result,
        }
    }

    fn fitting(&mut self, shape: &Shape, value: &Value, path: &str) -> Result<Value, ReadError> {
        match (shape, value) {
            (_, Value::Null) => Ok(self.zero(shape)),
            (Shape::Raw, any) => Ok(any.clone()),
            (Shape::Text(_), Value::String(_)) | (Shape::Bool, Value::Bool(_)) => Ok(value.clone()),
            (Shape::Byte | Shape::Int32 | Shape::Int64, Value::Number(number)) => self.int(shape, number),
            (Shape::Time, Value::String(text)) => normalised(Form::Seconds, text).map(Value::String),
            (Shape::MicroTime, Value::String(text)) => normalised(Form::Micros, text).map(Value::String),
            (Shape::Bytes, Value::String(text)) => bytes::normalised(text).map(Value::String),
            (Shape::Bytes, Value::Array(items)) => {
                let read = items.iter().map(|item| self.value(&Shape::Byte, item, path));
                let bytes = read.collect::<Result<Vec<_>, _>>()?;
                let bytes = bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok());
                Ok(Value::from(bytes::encoded(&bytes.collect::<Vec<_>>())))
            }
            (Shape::Map(inner), Value::Object(entries)) => {
                let read = |(key, entry): (&String, &Value)| {
                    Ok((key.clone(), self.value(inner, entry, &print::child(path, key))?))
                };
                entries.iter().map(read).collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
            (Shape::List(inner, _), Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.value(inner, item, &print::index(path, index)))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array),
            (Shape::Struct(structure), Value::Object(entries)) => self.structure(structure, entries, path),
            (shape, other) if self.converts => Err(mismatch(shape, other)),
            (shape, other) => Err(self.mismatch(print::type_name(other).to_owned(), shape)),
        }
    }

    fn structure(
        &mut self,
        structure: &Struct,
        entries: &Map<String, Value>,
        path: &str,
    ) -> Result<Value, ReadError> {
        let around = self.structure.replace(structure.name);
        let mut given = self.given(structure, entries, path)?;
        let mut written = Map::new();
        for field in structure.fields {
            let (value, kept) = match given.remove(field.name) {
                Some(value) => (value, true),
                None => (self.zero(&field.shape), false),
            };
            let write = match field.empty {
                Empty::Written => true,
                Empty::Kept => kept,
                Empty::Dropped => !is_zero(&value),
            };
            if write {
                written.insert(field.name.to_owned(), value);
            }
        }
        self.structure = around;
        Ok(Value::Object(written))
    }

    /// The fields that are there, read in the order in which a parser or a converter comes to them.
    fn given(
        &mut self,
        structure: &Struct,
        entries: &Map<String, Value>,
        path: &str,
    ) -> Result<Map<String, Value>, ReadError> {
        let place = |name: &str| structure.fields.iter().position(|field| field.name == name);
        let mut names: Vec<(Option<usize>, &String, &Value)> =
            entries.iter().map(|(name, value)| (place(name), name, value)).collect();
        if self.converts {
            names.sort_by_key(|(place, ..)| *place);
        }
        let mut given = Map::new();
        for (place, name, value) in names {
            let Some(field) = place.and_then(|place| structure.fields.get(place)) else {
                self.unknown.push(print::child(path, name));
                continue;
            };
            if value.is_null() {
                continue;
            }
            self.fields.push(field.name);
            let value = self.value(&field.shape, value, &print::child(path, field.name))?;
            self.fields.pop();
            given.insert(field.name.to_owned(), value);
        }
        Ok(given)
    }

    fn zero(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Text(_) | Shape::Bytes => Value::from(""),
            Shape::Bool => Value::Bool(false),
            Shape::Byte | Shape::Int32 | Shape::Int64 => Value::from(0),
            Shape::Time | Shape::MicroTime | Shape::Raw | Shape::Map(_) | Shape::List(..) => Value::Null,
            Shape::Struct(structure) => self.zero_of(structure),
        }
    }

    fn zero_of(&mut self, structure: &Struct) -> Value {
        self.structure(structure, &Map::new(), "").unwrap_or_else(|_| Value::Object(Map::new()))
    }

    fn int(&self, shape: &Shape, number: &Number) -> Result<Value, ReadError> {
        if self.converts {
            let given = Value::Number(number.clone());
            return whole(shape, number).ok_or_else(|| mismatch(shape, &given));
        }
        let fits = number.as_i64().is_some_and(|whole| match shape {
            Shape::Byte => u8::try_from(whole).is_ok(),
            Shape::Int32 => i32::try_from(whole).is_ok(),
            _ => true,
        });
        if fits {
            Ok(Value::Number(number.clone()))
        } else {
            Err(self.mismatch(format!("number {number}"), shape))
        }
    }

    fn mismatch(&self, found: String, shape: &Shape) -> ReadError {
        let wanted = go_type(shape);
        match self.structure {
            Some(structure) if !self.fields.is_empty() => {
                ReadError::Field { found, structure, field: self.fields.join("."), wanted }
            }
            _ => ReadError::Value { found, wanted },
        }
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

/// The name of a type in Go.
pub(super) fn go_type(shape: &Shape) -> String {
    match shape {
        Shape::Text(name) => (*name).to_owned(),
        Shape::Bool => "bool".to_owned(),
        Shape::Byte => "uint8".to_owned(),
        Shape::Int32 => "int32".to_owned(),
        Shape::Int64 => "int64".to_owned(),
        Shape::Time | Shape::MicroTime => "string".to_owned(),
        Shape::Bytes => "[]uint8".to_owned(),
        Shape::Raw => "v1.FieldsV1".to_owned(),
        Shape::Map(inner) => format!("map[string]{}", go_type(inner)),
        Shape::List(inner, _) => format!("[]{}", go_type(inner)),
        Shape::Struct(structure) => format!("v1.{}", structure.name),
    }
}
