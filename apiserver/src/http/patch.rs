//! A PATCH: the change, by its content type, and how its failures are told.

use serde_json::{Value, json};

use super::decode;
use super::json;
use super::query::{Strictness, WriteOptions};
use crate::patch::{self, Application, ApplyError, PatchError, Writer};
use crate::registry::meta;
use crate::schema::{Cause, Kind, ReadError, print};
use crate::status::Refusal;

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A list of operations.
    Json,
    /// An object of new values.
    Merge,
    /// The same, with what the kind's structure says of lists.
    Strategic,
    /// All that the sender wants of the object.
    Apply,
}

const OF_CUSTOM: [(&str, Format); 3] = [
    ("application/json-patch+json", Format::Json),
    ("application/merge-patch+json", Format::Merge),
    ("application/apply-patch+yaml", Format::Apply),
];

impl Format {
    /// By the request's content type.
    pub(crate) fn of(kind: &Kind, content_type: &str) -> Result<Self, Refusal> {
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        if kind.builtin && content_type == "application/strategic-merge-patch+json" {
            return Ok(Self::Strategic);
        }
        let known = OF_CUSTOM.iter().find(|(name, _)| *name == content_type);
        let refusal = || {
            if kind.builtin {
                Refusal::unrouted(415, "UnsupportedMediaType", "415: Unsupported Media Type")
            } else {
                Refusal::unsupported_media_type(&OF_CUSTOM.map(|(name, _)| name))
            }
        };
        known.map(|(_, format)| *format).ok_or_else(refusal)
    }
}

/// A patch that was read.
#[derive(Debug)]
pub(crate) struct Patch {
    format: Format,
    content: Value,
    doubled: Vec<String>,
}

impl Patch {
    pub(crate) fn read(format: Format, body: &[u8], strictness: Strictness) -> Result<Self, Refusal> {
        if format == Format::Apply {
            return Self::read_yaml(body, strictness);
        }
        let (content, doubled) = json::parse(body).map_err(|error| {
            Refusal::bad_request(format!("error decoding patch: {}", json::complaint(body, &error)))
        })?;
        Ok(Self { format, content, doubled })
    }

    /// An applied object is in YAML, of which JSON is a part.
    fn read_yaml(body: &[u8], strictness: Strictness) -> Result<Self, Refusal> {
        let (content, doubled) = match json::parse(body) {
            Ok(parsed) => parsed,
            Err(_) => serde_saphyr::from_slice::<Value>(body)
                .map(|content| (content, Vec::new()))
                .map_err(|error| Refusal::bad_request(format!("error decoding YAML: {error}")))?,
        };
        if !content.is_object() {
            let found = decode::go_name(&content);
            return Err(Refusal::bad_request(format!(
                "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            )));
        }
        let doubled = if strictness == Strictness::Ignore { Vec::new() } else { doubled };
        let patch = Self { format: Format::Apply, content, doubled };
        match patch.complaint() {
            Some(complaint) if strictness == Strictness::Strict => {
                Err(Refusal::bad_request(format!("error strict decoding YAML: {complaint}")))
            }
            _ => Ok(patch),
        }
    }

    /// What is odd about the YAML of an applied object.
    pub(crate) fn complaint(&self) -> Option<String> {
        let lines: Vec<String> = self
            .doubled
            .iter()
            .map(|path| path.rsplit('.').next().unwrap_or(path))
            .map(|key| format!("  line 1: key {} already set in map", print::quoted(key)))
            .collect();
        let text = format!("error converting YAML to JSON: yaml: unmarshal errors:\n{}", lines.join("\n"));
        (!lines.is_empty()).then_some(text)
    }

    /// The object after it is applied by the writer. `live` is none if it is not there yet.
    pub(crate) fn applied(
        &self,
        kind: &Kind,
        live: Option<&Value>,
        force: bool,
        writer: Writer<'_>,
    ) -> Result<Value, Refusal> {
        let application = Application { object: &self.content, force };
        let object = patch::apply(kind, live, application, writer).map_err(|error| not_applied(&error))?;
        let part =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = format!("{}/{}", part("/metadata/namespace"), part("/metadata/name"));
        decode::applied(kind, object).map_err(|error| {
            let gvk = format!("{}/{}, Kind={}", kind.group, kind.version, kind.kind);
            let text = format!(
                "failed to convert new object ({name}; {gvk}) to proper version: unable to convert unstructured object to {gvk}: {}",
                converted(&error)
            );
            Refusal::other(500, &text)
        })
    }

    /// The object after the patch, and what the client should know.
    pub(crate) fn apply(
        &self,
        kind: &Kind,
        live: &Value,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<String>), Refusal> {
        let (patched, mut unknown) = match self.format {
            Format::Json => {
                let patched = patch::json(live, &self.content).map_err(|error| refused(&error))?;
                (patched.object, patched.unknown)
            }
            Format::Strategic => {
                (patch::strategic(kind, live, &self.content).map_err(|error| refused(&error))?, Vec::new())
            }
            Format::Merge | Format::Apply => {
                (patch::merge(live, &self.content).map_err(|error| refused(&error))?, Vec::new())
            }
        };
        unknown.retain(|_| options.strictness != Strictness::Ignore);
        let strategic = self.format == Format::Strategic;
        let shown = if strategic { print::shown(&self.content) } else { patched.to_string() };
        if let (true, Err(error)) = (strategic, kind.read(patched.clone())) {
            return Err(invalid(&shown, &converted(&error)));
        }
        let patched = typed(kind, live, patched, strategic)?;
        let decoded = decode::read(kind, patched, &self.doubled, options.strictness)
            .map_err(|refusal| invalid(&shown, &why(&refusal)))?;
        unknown.extend(decoded.warnings);
        if options.strictness == Strictness::Strict && !unknown.is_empty() {
            let text = format!("strict decoding error: {}", unknown.join(", "));
            return Err(invalid(&shown, &text));
        }
        Ok((decoded.object, unknown))
    }
}

/// The object must still say what it is: the real server reads it anew, and finds no name in what it does not know. Only
/// a strategic patch is made of an object whose kind is known.
fn typed(kind: &Kind, live: &Value, mut patched: Value, known: bool) -> Result<Value, Refusal> {
    let missing = |field: &&str| patched.get(*field).is_none_or(Value::is_null);
    let Some(field) = ["kind", "apiVersion"].into_iter().find(missing) else { return Ok(patched) };
    match patched.as_object_mut() {
        Some(fields) if known => {
            fields.insert("kind".to_owned(), Value::from(kind.kind.clone()));
            fields.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
            Ok(patched)
        }
        _ if kind.builtin => Err(Refusal::nameless(meta::text(live, "name"))),
        _ => Err(Refusal::internal(&format!("Object '{field}' is missing in 'object has no {field} field'"))),
    }
}

/// 422: what comes out of the patch is no object of the kind.
fn invalid(shown: &str, why: &str) -> Refusal {
    Refusal::invalid_of("", "", "", &[Cause::invalid("patch", &Value::from(shown), why)])
}

/// What is wrong with a value that isn't read from JSON but put from one structure into another.
fn converted(error: &ReadError) -> String {
    match error {
        ReadError::Base64 { .. } => format!("error decoding from json: {error}"),
        _ => error.to_string(),
    }
}

/// What is wrong with an object that could not be read, without the words around it.
fn why(refusal: &Refusal) -> String {
    let text = refusal.to_string();
    match text.split_once(": ") {
        Some((head, rest)) if head.contains("cannot be handled") => rest.to_owned(),
        _ => text,
    }
}

fn not_applied(error: &ApplyError) -> Refusal {
    let text = error.to_string();
    match error {
        ApplyError::Malformed(_) => Refusal::bad_request(text),
        ApplyError::Mistyped(_) => Refusal::other(500, &text),
        ApplyError::Conflicts(conflicts) => {
            let causes = conflicts.iter().map(|conflict| {
                json!({
                    "reason": "FieldManagerConflict", "message": conflict.message(), "field": conflict.field
                })
            });
            Refusal::contested(text).causes(causes.collect())
        }
    }
}

fn refused(error: &PatchError) -> Refusal {
    let text = error.to_string();
    match error {
        PatchError::Malformed(_) => Refusal::bad_request(text),
        PatchError::Unfit(_) => Refusal::unrouted(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        ),
        PatchError::TooLong { .. } => Refusal::too_large_text(text),
        PatchError::Mistyped(_) => Refusal::other(500, &text),
    }
}
