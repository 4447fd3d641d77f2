//! The body of a request as an object of the kind that the path names.

pub(super) mod json;
pub(super) mod kinds;
pub(super) mod scan;
mod source;
pub(super) mod yaml;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::query::Strictness;
use crate::registry::{NO_VERSION, Strategy, meta};
use crate::schema::{Kind, ReadError};
use crate::status::Refusal;
use json::Twice;
pub(super) use source::Source;

/// How the refusal of an object begins because of what is odd about it.
const STRICT: &str = "strict decoding error";

/// An object that a client sent, as it is to be worked with.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) object: Value,
    pub(crate) warnings: Vec<String>,
    /// Why it is refused though it could be read; what is odd about it is told beside that.
    pub(crate) refusal: Option<Refusal>,
    /// Whether a real server stores it in another form than the one in which it reads it again.
    pub(crate) crude: bool,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Yaml,
    /// For built-in kinds.
    Protobuf,
}

/// Reads a body.
pub(crate) fn object(
    kind: &Kind,
    body: &[u8],
    encoding: Encoding,
    strictness: Strictness,
) -> Result<Decoded, Refusal> {
    let unread = |why: String| unrecognized(kind, &why, body);
    let (value, doubled) = document(kind, body, encoding).map_err(unread)?;
    let (version, name) = kinds::head(&value).map_err(unread)?;
    if let Some(why) = kinds::odd_version(&version) {
        return Err(unread(why));
    }
    let source = Source { text: body, doubled };
    if kind.builtin {
        kinds::of_builtin(kind, &version, &name)?;
        return read(kind, kinds::named(kind, value), &source, strictness);
    }
    if name.is_empty() {
        let why = format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body));
        // Who does not look for odd fields takes the kind from the path, and misses it only later.
        return Err(if strictness == Strictness::Ignore {
            handled(&kind.kind, &kind.kind, &kind.version, &why)
        } else {
            unread(why)
        });
    }
    if value.get("apiVersion").is_some_and(Value::is_null) {
        return Err(handled(&kind.kind, &name, "", kinds::NULL_VERSION));
    }
    of_custom(kind, value, &version, &source, strictness)
}

/// An object of a custom kind is read before its version is compared.
fn of_custom(
    kind: &Kind,
    value: Value,
    version: &str,
    source: &Source<'_>,
    strictness: Strictness,
) -> Result<Decoded, Refusal> {
    let read = read(kind, value, source, strictness);
    if version == kind.api_version() {
        return read;
    }
    let mut decoded = match read {
        // What is odd about it is told of a version, and there is none.
        Err(refusal) if version.is_empty() && refusal.to_string().contains(STRICT) => {
            return Err(Refusal::bad_request(NO_VERSION));
        }
        read => read?,
    };
    decoded.refusal = Some(kinds::other_version(kind, version));
    Ok(decoded)
}

fn document(kind: &Kind, body: &[u8], encoding: Encoding) -> Result<(Value, Vec<Twice>), String> {
    match encoding {
        Encoding::Protobuf => {
            if let Some(read) = kind.from_protobuf(body) {
                return read.map(|value| (value, Vec::new())).map_err(|error| error.to_string());
            }
            from_json(body)
        }
        Encoding::Yaml => {
            let (value, doubled) = yaml::parse(body).map_err(|why| format!("yaml: {why}"))?;
            Ok((or_empty(value), doubled))
        }
        Encoding::Json => from_json(body),
    }
}

/// An object in JSON. Nothing at all is one without fields.
fn from_json(body: &[u8]) -> Result<(Value, Vec<Twice>), String> {
    let (value, doubled) = json::parse(body)
        .map_err(|_| format!("couldn't get version/kind; json parse error: {}", scan::complaint(body)))?;
    Ok((or_empty(value), doubled))
}

/// Nothing at all is an object without fields.
pub(super) fn or_empty(value: Value) -> Value {
    if value.is_null() { Value::Object(Map::new()) } else { value }
}

/// 400: what is in the object can't be read.
fn handled(wanted: &str, name: &str, version: &str, why: &str) -> Refusal {
    Refusal::bad_request(format!("{name} in version \"{version}\" cannot be handled as a {wanted}: {why}"))
}

/// Brings an object into the form of its kind, and says what was left out.
pub(crate) fn read(
    kind: &Kind,
    value: Value,
    source: &Source<'_>,
    strictness: Strictness,
) -> Result<Decoded, Refusal> {
    let name = value.get("kind").and_then(Value::as_str).unwrap_or(&kind.kind).to_owned();
    let default = if kind.builtin { kind.version.as_str() } else { "" };
    let version = value.get("apiVersion").and_then(Value::as_str).unwrap_or(default);
    let version = version.rsplit('/').next().unwrap_or(version).to_owned();
    let handled = |wanted: &str, why: &str| handled(wanted, &name, &version, why);
    first_values(kind, &value, source).map_err(|error| handled(&kind.kind, &error.to_string()))?;
    let crude = Strategy::of(kind).stores_crudely(&value);
    let read = kind.read(value).map_err(|error| handled(&kind.kind, &error.to_string()))?;
    let complaints = source.complaints(kind, &read.unknown);
    if strictness == Strictness::Strict && !complaints.is_empty() {
        let wanted = if kind.builtin { &kind.kind } else { &name };
        return Err(handled(wanted, &format!("{STRICT}: {}", complaints.join(", "))));
    }
    let object = complete(kind, read.object);
    let warnings = if strictness == Strictness::Warn { complaints } else { Vec::new() };
    Ok(Decoded { object, warnings, refusal: None, crude })
}

/// The earlier values of keys that come twice must be of the right type, too.
fn first_values(kind: &Kind, value: &Value, source: &Source<'_>) -> Result<(), ReadError> {
    if source.doubled.is_empty() {
        return Ok(());
    }
    let Ok(mut first) = json::parse_first(source.text) else { return Ok(()) };
    for name in ["apiVersion", "kind"] {
        if let (Some(fields), Some(text)) = (first.as_object_mut(), value.get(name)) {
            fields.insert(name.to_owned(), text.clone());
        }
    }
    kind.read(first).map(drop)
}

/// Brings what a server-side apply made into the form of its kind.
pub(crate) fn applied(kind: &Kind, object: Value) -> Result<Value, ReadError> {
    kind.read_applied(object).map(|object| complete(kind, object))
}

/// Brings an object into the form of its kind.
pub(super) fn complete(kind: &Kind, mut object: Value) -> Value {
    // Makes the metadata if there are none.
    meta::all(&mut object);
    Strategy::of(kind).complete(&mut object);
    object
}

fn unrecognized(kind: &Kind, why: &str, body: &[u8]) -> Refusal {
    let summary = summary(body);
    Refusal::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({summary})",
        kind.kind
    ))
}

/// The beginning of a body: as text if it looks like an object.
fn summary(body: &[u8]) -> String {
    const MAX: usize = 30;
    let begin = body.get(..MAX.min(body.len())).unwrap_or_default();
    let more = if body.len() > MAX { " ..." } else { "" };
    match begin.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(begin)),
        Some(_) => {
            let mut text = String::new();
            for byte in begin {
                let _ = write!(text, "{byte:02x}");
            }
            text + more
        }
    }
}

/// The options in a body of a deletion.
pub(crate) fn options(body: &[u8]) -> Result<Value, Refusal> {
    let (value, _) = from_json(body).map_err(Refusal::bad_request)?;
    let (version, name) = kinds::head(&value).map_err(Refusal::bad_request)?;
    if !name.is_empty() && name != "DeleteOptions" {
        return Err(Refusal::bad_request(kinds::no_options(&version, &name)));
    }
    Ok(value)
}
