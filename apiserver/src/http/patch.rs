//! A PATCH: the change, by its content type, and how its failures are told.

use serde_json::{Value, json};

use super::decode;
use super::json;
use super::query::Strictness;
use super::scan;
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
    strictness: Strictness,
}

impl Patch {
    pub(crate) fn read(format: Format, body: &[u8], strictness: Strictness) -> Result<Self, Refusal> {
        if format == Format::Apply {
            return Self::read_yaml(body, strictness);
        }
        let (content, doubled) = json::parse(body)
            .map_err(|_| Refusal::bad_request(format!("error decoding patch: {}", scan::complaint(body))))?;
        Ok(Self { format, content, doubled, strictness })
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
            let found = print::type_name(&content);
            return Err(Refusal::bad_request(format!(
                "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            )));
        }
        Ok(Self { format: Format::Apply, content, doubled, strictness })
    }

    /// What is odd about the YAML of an applied object: a warning for each, or a refusal.
    fn complaints(&self) -> Result<Vec<String>, Refusal> {
        let keys = self.doubled.iter().map(|path| path.rsplit('.').next().unwrap_or(path));
        let lines: Vec<String> =
            keys.map(|key| format!("line 1: key {} already set in map", print::quoted(key))).collect();
        match self.strictness {
            Strictness::Ignore => Ok(Vec::new()),
            Strictness::Strict if !lines.is_empty() => Err(Refusal::bad_request(format!(
                "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                lines.join("\n  ")
            ))),
            Strictness::Warn | Strictness::Strict => Ok(lines),
        }
    }

    /// The object after it is applied by the writer, and whether a real server stores it in another form. `live` is none
    /// if it is not there yet. What the client should know is added to `told`.
    pub(crate) fn applied(
        &self,
        kind: &Kind,
        live: Option<&Value>,
        force: bool,
        writer: Writer<'_>,
        told: &mut Vec<String>,
    ) -> Result<(Value, bool), Refusal> {
        let application = Application { object: &self.content, force };
        let object = patch::apply(kind, live, application, writer).map_err(|error| not_applied(&error))?;
        let part =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = format!("{}/{}", part("/metadata/namespace"), part("/metadata/name"));
        let read = decode::applied(kind, object.clone()).map_err(|error| {
            let gvk = format!("{}/{}, Kind={}", kind.group, kind.version, kind.kind);
            let text = format!(
                "failed to convert new object ({name}; {gvk}) to proper version: unable to convert unstructured object to {gvk}: {}",
                converted(&error)
            );
            Refusal::other(500, &text)
        })?;
        told.extend(self.complaints()?);
        let crude = !kind.builtin && is_crude(&object, &read);
        Ok((read, crude))
    }

    /// The object after the patch. What the client should know is added to `told`.
    pub(crate) fn apply(&self, kind: &Kind, live: &Value, told: &mut Vec<String>) -> Result<Value, Refusal> {
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
        unknown.retain(|_| self.strictness != Strictness::Ignore);
        let strategic = self.format == Format::Strategic;
        let shown = if strategic { print::shown(&self.content) } else { patched.to_string() };
        let patched = if strategic {
            kind.read_applied(patched.clone()).map_err(|error| invalid(&shown, &converted(&error)))?;
            // Such a patch is made of an object whose kind is known.
            decode::named(kind, patched)
        } else {
            identified(kind, patched).map_err(|unread| match unread {
                Unread::Invalid(why) => invalid(&shown, &why),
                Unread::Unversioned(fields) => {
                    unknown.extend(fields.into_iter().filter(|_| self.strictness != Strictness::Ignore));
                    self.strict(&shown, &unknown, told)
                        .err()
                        .unwrap_or_else(|| Refusal::nameless(meta::text(live, "name")))
                }
                Unread::Refused(refusal) => refusal,
            })?
        };
        let decoded = decode::read(kind, patched, &self.doubled, self.strictness)
            .map_err(|refusal| invalid(&shown, &why(&refusal)))?;
        unknown.extend(decoded.warnings);
        self.strict(&shown, &unknown, told)?;
        Ok(decoded.object)
    }

    /// Tells of unknown fields, or refuses them.
    fn strict(&self, shown: &str, unknown: &[String], told: &mut Vec<String>) -> Result<(), Refusal> {
        if self.strictness == Strictness::Strict && !unknown.is_empty() {
            return Err(invalid(shown, &format!("strict decoding error: {}", unknown.join(", "))));
        }
        told.extend_from_slice(unknown);
        Ok(())
    }
}

/// Why it can't be told what a patched object is.
enum Unread {
    /// It doesn't say, or in a way that can't be read.
    Invalid(String),
    /// A built-in kind without a version is read as something else, which has none of these fields, and no name.
    Unversioned(Vec<String>),
    /// It is refused in other words.
    Refused(Refusal),
}

/// The object must still say what it is, since a real server reads it anew.
fn identified(kind: &Kind, patched: Value) -> Result<Value, Unread> {
    let (version, name) = decode::head(&patched).map_err(Unread::Invalid)?;
    if kind.builtin {
        if version.is_empty() {
            let fields = patched.as_object().into_iter().flat_map(|fields| fields.keys());
            let unknown = fields.filter(|name| !matches!(name.as_str(), "apiVersion" | "kind"));
            let told = unknown.map(|name| format!("unknown field {}", print::quoted(name)));
            return Err(Unread::Unversioned(told.collect()));
        }
        decode::of_builtin(kind, &version, &name).map_err(|refusal| Unread::Invalid(why(&refusal)))?;
        return Ok(decode::named(kind, patched));
    }
    if name.is_empty() {
        return Err(Unread::Invalid(format!("Object 'Kind' is missing in '{patched}'")));
    }
    if patched.get("apiVersion").is_some_and(Value::is_null) {
        return Err(Unread::Invalid(decode::NULL_VERSION.to_owned()));
    }
    if version.is_empty() {
        let text = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
        return Err(Unread::Refused(Refusal::internal(text)));
    }
    if version.matches('/').count() > 1 {
        return Err(Unread::Invalid(format!("unexpected GroupVersion string: {version}")));
    }
    Ok(patched)
}

/// Whether metadata that were applied have other values when they are read, but for those that every write sets. A real
/// server stores objects of custom kinds as they were applied.
fn is_crude(applied: &Value, read: &Value) -> bool {
    const SET: [&str; 8] = [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
    ];
    let fields = applied.get("metadata").and_then(Value::as_object).into_iter().flatten();
    let mut given = fields.filter(|(name, _)| !SET.contains(&name.as_str()));
    given.any(|(name, value)| meta::field(read, name) != Some(value))
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
