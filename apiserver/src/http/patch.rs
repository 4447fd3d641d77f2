//! A PATCH: the change, by its content type, and how its failures are told.

use serde_json::{Value, json};

use super::decode::json::Twice;
use super::decode::{self, Decoded, Source, json, kinds, scan, yaml};
use super::query::Strictness;
use crate::patch::{self, Application, ApplyError, PatchError, Writer};
use crate::registry::{Strategy, meta};
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

/// A patch as it was sent. It is read where it is applied: whether there is an object is told first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch<'a> {
    pub(crate) format: Format,
    pub(crate) body: &'a [u8],
    pub(crate) strictness: Strictness,
}

/// What a patch says.
struct Content {
    value: Value,
    /// The keys that come twice.
    doubled: Vec<Twice>,
}

impl Patch<'_> {
    /// Whether a real server looks for odd fields, by which it reads the patch once more, in other words.
    fn is_checked(&self) -> bool {
        self.strictness != Strictness::Ignore
    }

    fn read(&self) -> Result<Content, Refusal> {
        let parsed = json::parse(self.body).map_err(|_| scan::complaint(self.body));
        let read = parsed.and_then(|(value, doubled)| {
            if self.can_be(&value) { Ok(Content { value, doubled }) } else { Err(no_object(&value)) }
        });
        read.map_err(|why| {
            Refusal::bad_request(match self.format {
                Format::Merge if !self.is_checked() => patch::NO_MERGE_PATCH.to_owned(),
                Format::Json | Format::Merge if self.is_checked() => format!("error decoding patch: {why}"),
                _ => why,
            })
        })
    }

    /// Whether the value is of a type that is read as a patch. What is in it is looked at later.
    fn can_be(&self, value: &Value) -> bool {
        match (self.format, value) {
            (Format::Json, _) | (_, Value::Object(_) | Value::Null) => true,
            (Format::Merge, Value::Array(_)) => !self.is_checked(),
            _ => false,
        }
    }

    /// An applied object is in YAML, of which JSON is a part. Nothing at all is an object without fields.
    fn read_yaml(&self) -> Result<Content, Refusal> {
        let read =
            yaml::parse(self.body).map_err(|why| format!("error converting YAML to JSON: yaml: {why}"));
        let read = read.and_then(|(value, doubled)| {
            let value = decode::or_empty(value);
            let why = no_object(&value);
            let wrong = format!("error unmarshaling JSON: while decoding JSON: {why}");
            if value.is_object() { Ok(Content { value, doubled }) } else { Err(wrong) }
        });
        read.map_err(|why| Refusal::bad_request(format!("error decoding YAML: {why}")))
    }

    /// What is odd about the YAML of an applied object: a warning for each, or a refusal.
    fn complaints(&self, doubled: &[Twice]) -> Result<Vec<String>, Refusal> {
        let told = |twice: &Twice| format!("line 1: key {} already set in map", print::quoted(&twice.key));
        let lines: Vec<String> = doubled.iter().map(told).collect();
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
        let content = self.read_yaml()?;
        let application = Application { object: &content.value, force };
        let object = patch::apply(kind, live, application, writer).map_err(|error| not_applied(&error))?;
        let part = |pointer: &str| content.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{}/{}", part("/metadata/namespace"), part("/metadata/name"));
        let read = decode::applied(kind, object.clone()).map_err(|error| {
            let gvk = format!("{}/{}, Kind={}", kind.group, kind.version, kind.kind);
            let text = format!(
                "failed to convert new object ({name}; {gvk}) to proper version: unable to convert unstructured object to {gvk}: {}",
                converted(&error)
            );
            Refusal::other(500, &text)
        })?;
        told.extend(self.complaints(&content.doubled)?);
        let crude = is_crude(kind, &object, &read);
        Ok((read, crude))
    }

    /// The object after the patch. What the client should know is added to `told`.
    pub(crate) fn apply(
        &self,
        kind: &Kind,
        live: &Value,
        told: &mut Vec<String>,
    ) -> Result<Decoded, Refusal> {
        let Content { value: change, doubled } = self.read()?;
        let mut odd: Vec<String> = doubled.iter().map(Twice::text).collect();
        let patched = match self.format {
            Format::Json => {
                odd = patch::odd_operations(&change, &odd);
                patch::json(live, &change, self.is_checked())
            }
            Format::Strategic => return self.strategic(kind, live, &decode::or_empty(change), odd, told),
            Format::Merge | Format::Apply => patch::merge(live, &change),
        };
        let patched = patched.map_err(|error| refused(&error))?;
        let shown = patched.to_string();
        let patched = identified(kind, patched).map_err(|unread| match unread {
            Unread::Invalid(why) => invalid(&shown, &why),
            Unread::Unversioned(fields) => {
                odd.extend(fields);
                self.strict(&shown, &odd, told)
                    .err()
                    .unwrap_or_else(|| Refusal::nameless(meta::text(live, "name")))
            }
        })?;
        let mut decoded = decode::read(kind, patched, &Source::default(), Strictness::Warn)
            .map_err(|refusal| invalid(&shown, &why(&refusal)))?;
        odd.append(&mut decoded.warnings);
        self.strict(&shown, &odd, told)?;
        Ok(decoded)
    }

    /// A strategic patch is made of an object whose kind is known, and what comes out is not parsed again.
    fn strategic(
        &self,
        kind: &Kind,
        live: &Value,
        change: &Value,
        mut odd: Vec<String>,
        told: &mut Vec<String>,
    ) -> Result<Decoded, Refusal> {
        let patched = patch::strategic(kind, live, change).map_err(|error| refused(&error))?;
        let shown = print::shown(change);
        let crude = Strategy::of(kind).stores_crudely(&patched);
        let read = kind.read_patched(patched).map_err(|error| invalid(&shown, &converted(&error)))?;
        odd.extend(read.unknown.iter().map(|path| format!("unknown field {}", print::quoted(path))));
        self.strict(&shown, &odd, told)?;
        let object = decode::complete(kind, kinds::named(kind, read.object));
        Ok(Decoded { object, warnings: Vec::new(), refusal: None, crude })
    }

    /// Tells of odd fields, or refuses them.
    fn strict(&self, shown: &str, odd: &[String], told: &mut Vec<String>) -> Result<(), Refusal> {
        match self.strictness {
            Strictness::Strict if !odd.is_empty() => {
                return Err(invalid(shown, &format!("strict decoding error: {}", odd.join(", "))));
            }
            Strictness::Ignore => {}
            Strictness::Strict | Strictness::Warn => told.extend_from_slice(odd),
        }
        Ok(())
    }
}

/// What is said of a value that is to be an object.
fn no_object(found: &Value) -> String {
    let found = print::type_name(found);
    format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")
}

/// Why it can't be told what a patched object is.
enum Unread {
    /// It doesn't say, or in a way that can't be read.
    Invalid(String),
    /// A built-in kind without a version is read as something else, which has none of these fields, and no name.
    Unversioned(Vec<String>),
}

/// The object must still say what it is, since a real server reads it anew.
fn identified(kind: &Kind, patched: Value) -> Result<Value, Unread> {
    let (version, name) = kinds::head(&patched).map_err(Unread::Invalid)?;
    if kind.builtin {
        if version.is_empty() {
            let fields = patched.as_object().into_iter().flat_map(|fields| fields.keys());
            let unknown = fields.filter(|name| !matches!(name.as_str(), "apiVersion" | "kind"));
            let told = unknown.map(|name| format!("unknown field {}", print::quoted(name)));
            return Err(Unread::Unversioned(told.collect()));
        }
        kinds::of_builtin(kind, &version, &name).map_err(|refusal| Unread::Invalid(why(&refusal)))?;
        return Ok(kinds::named(kind, patched));
    }
    if name.is_empty() {
        return Err(Unread::Invalid(format!("Object 'Kind' is missing in '{patched}'")));
    }
    if patched.get("apiVersion").is_some_and(Value::is_null) {
        return Err(Unread::Invalid(kinds::NULL_VERSION.to_owned()));
    }
    if let Some(why) = kinds::odd_version(&version) {
        return Err(Unread::Invalid(why));
    }
    Ok(patched)
}

/// Whether metadata that were applied have other values when they are read, but for those that every write sets. A real
/// server stores objects of custom kinds as they were applied.
fn is_crude(kind: &Kind, applied: &Value, read: &Value) -> bool {
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
    if kind.builtin {
        return Strategy::of(kind).stores_crudely(applied);
    }
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
