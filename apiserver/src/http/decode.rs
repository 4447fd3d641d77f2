//! The body of a request as an object of the kind that the path names.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::json;
use super::query::Strictness;
use super::scan;
use crate::registry::{Strategy, meta};
use crate::schema::{Kind, ReadError, print};
use crate::status::Refusal;

/// An object that a client sent, as it is to be worked with.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) object: Value,
    pub(crate) warnings: Vec<String>,
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
    let (value, doubled) = document(kind, body, encoding).map_err(|why| unrecognized(kind, &why, body))?;
    let value = typed(kind, value, body)?;
    read(kind, value, &doubled, strictness)
}

fn document(kind: &Kind, body: &[u8], encoding: Encoding) -> Result<(Value, Vec<String>), String> {
    if encoding == Encoding::Protobuf
        && let Some(read) = kind.from_protobuf(body)
    {
        return read.map(|value| (value, Vec::new())).map_err(|error| error.to_string());
    }
    if encoding == Encoding::Yaml {
        let parsed = serde_saphyr::from_slice::<Value>(body);
        return parsed
            .map(|value| (value, Vec::new()))
            .map_err(|_| "couldn't get version/kind; yaml parse error".to_owned());
    }
    from_json(body)
}

/// An object in JSON. Nothing at all is one without fields.
fn from_json(body: &[u8]) -> Result<(Value, Vec<String>), String> {
    let (value, doubled) = json::parse(body)
        .map_err(|_| format!("couldn't get version/kind; json parse error: {}", scan::complaint(body)))?;
    Ok((if value.is_null() { Value::Object(Map::new()) } else { value }, doubled))
}

/// What a real server reads kind and version into.
const HEAD: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// Kind and version of an object must be those of the path. Built-in kinds may leave them out.
fn typed(kind: &Kind, value: Value, body: &[u8]) -> Result<Value, Refusal> {
    let (version, name) = head(&value).map_err(|why| unrecognized(kind, &why, body))?;
    if kind.builtin {
        of_builtin(kind, &version, &name)?;
        return Ok(named(kind, value));
    }
    if name.is_empty() {
        let why = format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body));
        return Err(unrecognized(kind, &why, body));
    }
    if value.get("apiVersion").is_some_and(Value::is_null) {
        return Err(Refusal::bad_request(format!(
            "{name} in version \"\" cannot be handled as a {}: {NULL_VERSION}",
            kind.kind
        )));
    }
    if version == kind.api_version() { Ok(value) } else { Err(other_version(kind, &version)) }
}

/// What is said of an object of a custom kind whose version is null.
pub(super) const NULL_VERSION: &str =
    ".apiVersion accessor error: <nil> is of the type <nil>, expected string";

/// Version and kind that an object names, empty for none; or why they can't be read.
pub(super) fn head(value: &Value) -> Result<(String, String), String> {
    let odd = |found: &Value, what: String| {
        let found = print::type_name(found);
        format!("couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go {what}")
    };
    let Value::Object(fields) = value else { return Err(odd(value, format!("value of type {HEAD}"))) };
    let text = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(found) => Err(odd(found, format!("struct field .{field} of type string"))),
    };
    Ok((text("apiVersion")?, text("kind")?))
}

/// The object with the names of its kind and version.
pub(super) fn named(kind: &Kind, mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
        fields.insert("kind".to_owned(), Value::from(kind.kind.clone()));
    }
    object
}

pub(super) fn of_builtin(kind: &Kind, version: &str, name: &str) -> Result<(), Refusal> {
    let wanted = kind.api_version();
    let version = if version.is_empty() { &wanted } else { version };
    let name = if name.is_empty() { &kind.kind } else { name };
    if version == wanted && name == kind.kind {
        return Ok(());
    }
    let short = version.rsplit('/').next().unwrap_or(version);
    let known = [
        ("v1", "Namespace"),
        ("v1", "Secret"),
        ("v1", "Event"),
        ("events.k8s.io/v1", "Event"),
        ("coordination.k8s.io/v1", "Lease"),
    ];
    let why = if known.contains(&(version, name)) {
        let hub = kind.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
        format!("converting (v1.{name}) to ({hub}.{}): unknown conversion", kind.kind)
    } else {
        unregistered(version, name)
    };
    let text = format!("{name} in version \"{short}\" cannot be handled as a {}: {why}", kind.kind);
    Err(Refusal::bad_request(text))
}

/// What is said of a kind that nobody knows.
fn unregistered(version: &str, name: &str) -> String {
    format!(
        "no kind \"{name}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
    )
}

fn other_version(kind: &Kind, version: &str) -> Refusal {
    Refusal::bad_request(format!(
        "the API version in the data ({version}) does not match the expected API version ({})",
        kind.api_version()
    ))
}

/// Brings an object into the form of its kind, and says what was left out.
pub(crate) fn read(
    kind: &Kind,
    value: Value,
    doubled: &[String],
    strictness: Strictness,
) -> Result<Decoded, Refusal> {
    let name = value.get("kind").and_then(Value::as_str).unwrap_or(&kind.kind).to_owned();
    let handled = |why: &str| {
        Refusal::bad_request(format!(
            "{name} in version \"{}\" cannot be handled as a {}: {why}",
            kind.version, kind.kind
        ))
    };
    let read = kind.read(value).map_err(|error| handled(&error.to_string()))?;
    let doubled = doubled.iter().map(|path| format!("duplicate field {}", print::quoted(path)));
    let unknown = read.unknown.iter().map(|path| format!("unknown field {}", print::quoted(path)));
    let complaints: Vec<String> = doubled.chain(unknown).collect();
    if strictness == Strictness::Strict && !complaints.is_empty() {
        return Err(handled(&format!("strict decoding error: {}", complaints.join(", "))));
    }
    let object = complete(kind, read.object);
    let warnings = if strictness == Strictness::Warn { complaints } else { Vec::new() };
    Ok(Decoded { object, warnings })
}

/// Brings what a server-side apply made into the form of its kind.
pub(crate) fn applied(kind: &Kind, object: Value) -> Result<Value, ReadError> {
    kind.read_applied(object).map(|object| complete(kind, object))
}

fn complete(kind: &Kind, mut object: Value) -> Value {
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
    let (version, name) = head(&value).map_err(Refusal::bad_request)?;
    if !name.is_empty() && name != "DeleteOptions" {
        return Err(Refusal::bad_request(unregistered(&version, &name)));
    }
    Ok(value)
}
