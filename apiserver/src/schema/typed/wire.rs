//! Built-in kinds in Protocol Buffers, which is how kubectl sends what it creates of its own: namespaces and Secrets.

use super::time::Form;
use super::{Shape, Struct};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use prost::bytes::{Buf, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// What every object in this form begins with.
const MAGIC: &[u8] = b"k8s\0";

/// Bytes that aren't an object of the kind.
#[derive(Debug, Error)]
pub enum WireError {
    /// They don't begin as they must.
    #[error("provided data does not appear to be a protobuf message, expected prefix {MAGIC:?}")]
    Magic,
    /// They are malformed.
    #[error("the message can't be read")]
    Malformed(#[from] prost::DecodeError),
    /// A field hasn't the type that it must have.
    #[error("the field {0} has another type than expected")]
    Mistyped(&'static str),
}

/// The envelope around every object.
static UNKNOWN: Struct = Struct {
    name: "Unknown",
    atomic: false,
    fields: &[super::field(1, "typeMeta", Shape::Struct(&TYPE_META)), super::field(2, "raw", Shape::Raw)],
};

static TYPE_META: Struct = Struct {
    name: "TypeMeta",
    atomic: false,
    fields: &[super::field(1, "apiVersion", super::TEXT), super::field(2, "kind", super::TEXT)],
};

/// Reads an object into the form that it has in JSON.
///
/// # Errors
/// The bytes aren't an object of this structure.
pub(in crate::schema) fn decode(structure: &Struct, bytes: &[u8]) -> Result<Value, WireError> {
    let message = bytes.strip_prefix(MAGIC).ok_or(WireError::Magic)?;
    let (envelope, raw) = fields(&UNKNOWN, Bytes::copy_from_slice(message))?;
    let (mut object, _) = fields(structure, raw)?;
    if let Some(Value::Object(type_meta)) = envelope.get("typeMeta") {
        object.extend(type_meta.clone());
    }
    Ok(Value::Object(object))
}

/// The fields of a message, and the bytes of one of any form.
fn fields(structure: &Struct, mut message: Bytes) -> Result<(Map<String, Value>, Bytes), WireError> {
    let mut found = Map::new();
    let mut raw = Bytes::new();
    while message.has_remaining() {
        let (number, wire) = decode_key(&mut message)?;
        let Some(field) = structure.fields.iter().find(|field| field.number == number) else {
            skip_field(wire, number, &mut message, DecodeContext::default())?;
            continue;
        };
        let value = match wire {
            WireType::Varint => whole(&field.shape, decode_varint(&mut message)?),
            WireType::LengthDelimited => {
                let part = delimited(&mut message)?;
                if matches!(field.shape, Shape::Raw) {
                    raw.clone_from(&part);
                }
                nested(&field.shape, part, found.remove(field.name))?
            }
            _ => None,
        };
        found.insert(field.name.to_owned(), value.ok_or(WireError::Mistyped(field.name))?);
    }
    Ok((found, raw))
}

/// The next bytes, as many as are announced.
fn delimited(message: &mut Bytes) -> Result<Bytes, WireError> {
    let mut part: Vec<u8> = Vec::new();
    let context = DecodeContext::default();
    prost::encoding::bytes::merge(WireType::LengthDelimited, &mut part, message, context)?;
    Ok(Bytes::from(part))
}

fn whole(shape: &Shape, number: u64) -> Option<Value> {
    match shape {
        Shape::Bool => Some(Value::Bool(number != 0)),
        Shape::Byte | Shape::Int32 | Shape::Int64 => Some(Value::from(number.cast_signed())),
        _ => None,
    }
}

/// A value that isn't a number. `before` is what the field held already: lists and maps come item by item.
fn nested(shape: &Shape, part: Bytes, before: Option<Value>) -> Result<Option<Value>, WireError> {
    Ok(match shape {
        Shape::Text(_) => String::from_utf8(part.to_vec()).ok().map(Value::String),
        Shape::Bytes => Some(Value::String(STANDARD.encode(&part))),
        Shape::Struct(structure) => Some(Value::Object(fields(structure, part)?.0)),
        Shape::Time => time(part, Form::Seconds)?,
        Shape::MicroTime => time(part, Form::Micros)?,
        Shape::Raw => Some(json!({})),
        Shape::List(item, _) => {
            let mut items = match before {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            items.extend(nested(item, part, None)?);
            Some(Value::Array(items))
        }
        Shape::Map(inner) => {
            let mut entries = match before {
                Some(Value::Object(entries)) => entries,
                _ => Map::new(),
            };
            let (key, value) = entry(inner, part)?;
            entries.insert(key, value);
            Some(Value::Object(entries))
        }
        Shape::Bool | Shape::Byte | Shape::Int32 | Shape::Int64 => None,
    })
}

/// One entry of a map. What is left out of it is empty.
fn entry(inner: &Shape, mut message: Bytes) -> Result<(String, Value), WireError> {
    let (mut key, mut value) = (String::new(), json!(""));
    while message.has_remaining() {
        let (number, wire) = decode_key(&mut message)?;
        match (number, wire) {
            (1, WireType::LengthDelimited) => {
                key = String::from_utf8_lossy(&delimited(&mut message)?).into_owned();
            }
            (2, WireType::LengthDelimited) => {
                value = nested(inner, delimited(&mut message)?, None)?.unwrap_or(Value::Null);
            }
            _ => skip_field(wire, number, &mut message, DecodeContext::default())?,
        }
    }
    Ok((key, value))
}

fn time(mut message: Bytes, form: Form) -> Result<Option<Value>, WireError> {
    let (mut seconds, mut nanos) = (0_i64, 0_i32);
    while message.has_remaining() {
        let (number, wire) = decode_key(&mut message)?;
        match (number, wire) {
            (1, WireType::Varint) => seconds = decode_varint(&mut message)?.cast_signed(),
            (2, WireType::Varint) => {
                nanos = i32::try_from(decode_varint(&mut message)?.cast_signed()).unwrap_or_default();
            }
            _ => skip_field(wire, number, &mut message, DecodeContext::default())?,
        }
    }
    Ok(Timestamp::new(seconds, nanos).ok().map(|time| Value::String(form.write(time))))
}

#[cfg(test)]
mod tests {
    use super::super::kinds;
    use super::*;
    use prost::encoding::encode_key;

    /// A field of bytes.
    fn part(number: u32, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode_key(number, WireType::LengthDelimited, &mut out);
        prost::encoding::encode_varint(content.len() as u64, &mut out);
        out.extend_from_slice(content);
        out
    }

    fn varint(number: u32, value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        encode_key(number, WireType::Varint, &mut out);
        prost::encoding::encode_varint(value, &mut out);
        out
    }

    fn envelope(kind: &[u8], object: &[u8]) -> Vec<u8> {
        let type_meta = [part(1, b"v1"), part(2, kind)].concat();
        [MAGIC.to_vec(), part(1, &type_meta), part(2, object)].concat()
    }

    #[test]
    fn a_secret_is_read_with_its_maps_lists_and_times() {
        let label = |key: &[u8], value: &[u8]| part(11, &[part(1, key), part(2, value)].concat());
        let time = part(8, &[varint(1, 60), varint(2, 0)].concat());
        let metadata = [part(1, b"s"), label(b"a", b"1"), label(b"b", b""), part(14, b"x/y"), time].concat();
        let data = part(2, &[part(1, b"key"), part(2, b"value")].concat());
        let secret = [part(1, &metadata), data, varint(5, 1), part(99, b"unknown")].concat();
        assert_eq!(
            decode(&kinds::SECRET, &envelope(b"Secret", &secret)).unwrap(),
            json!({
                "apiVersion": "v1", "kind": "Secret", "immutable": true, "data": { "key": "dmFsdWU=" },
                "metadata": {
                    "name": "s", "labels": { "a": "1", "b": "" }, "finalizers": ["x/y"],
                    "creationTimestamp": "1970-01-01T00:01:00Z"
                }
            })
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert!(matches!(decode(&kinds::SECRET, b"{}"), Err(WireError::Magic)));
        let cut = envelope(b"Secret", &[10, 200]);
        assert!(matches!(decode(&kinds::SECRET, &cut), Err(WireError::Malformed(_))));
        let mistyped = envelope(b"Secret", &varint(1, 5));
        assert!(matches!(decode(&kinds::SECRET, &mistyped), Err(WireError::Mistyped("metadata"))));
    }
}
