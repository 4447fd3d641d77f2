//! One kind of object, and what can be done by its schema.

use super::node::Node;
use super::typed::{self, OBJECT_META, ReadError, Struct, WireError};
use super::validate::{self, Part};
use super::{Cause, prune};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// A kind of object that is served.
#[derive(Debug)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in the group.
    pub version: String,
    /// The name of the kind.
    pub kind: String,
    /// The name of the kind of its lists.
    pub list_kind: String,
    /// The name in paths.
    pub plural: String,
    /// The name of one of it, for users.
    pub singular: String,
    /// Short names for users.
    pub short_names: Vec<String>,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// Whether the status is a subresource.
    pub status: bool,
    /// Whether it is built into Kubernetes, rather than defined by a CustomResourceDefinition.
    pub builtin: bool,
    /// The columns of its tables that a definition asks for. None for built-in kinds, which have their own.
    pub columns: Vec<Column>,
    /// The schema as it is written in the definition. Null for built-in kinds.
    pub(crate) written: Value,
    /// The schema: the definition's, or the structure's.
    pub(crate) root: Node,
    /// The structure of a built-in kind.
    pub(super) structure: Option<&'static Struct>,
}

/// A column of a kind's tables.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// The type: string, date, boolean, integer, number.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where the value is found in the object.
    pub json_path: String,
    /// Columns above 0 are shown only in wide tables.
    #[serde(default)]
    pub priority: i32,
    /// What it shows.
    #[serde(default)]
    pub description: String,
}

/// An object that was read.
#[derive(Debug, PartialEq)]
pub struct Read {
    /// The object as it is to be stored: without unknown fields, with defaults.
    pub object: Value,
    /// The paths of the fields that were left out because nobody knows them.
    pub unknown: Vec<String>,
}

/// The schema of metadata.
static META: LazyLock<Node> = LazyLock::new(|| typed::node(&OBJECT_META));

impl Kind {
    /// Group and version, as objects name them.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Reads an object that a client sent: takes out what the schema doesn't know, brings metadata and built-in kinds
    /// into the form in which Kubernetes writes them, drops nulls and fills in defaults.
    ///
    /// # Errors
    /// A field of the metadata, or of a built-in kind, has a value of another type.
    pub fn read(&self, mut object: Value) -> Result<Read, ReadError> {
        let mut unknown = Vec::new();
        if let Some(structure) = self.structure {
            let object = typed::read(structure, &object, "", &mut unknown)?;
            return Ok(Read { object, unknown });
        }
        read_metadata(&mut object, &mut unknown)?;
        if self.is_another(&object) {
            return Ok(Read { object, unknown });
        }
        let mut pruned = Vec::new();
        prune::unknown_fields(&self.root, &mut object, &mut pruned);
        unknown.append(&mut pruned);
        prune::nulls(&self.root, &mut object);
        prune::defaults(&self.root, &mut object);
        Ok(Read { object, unknown })
    }

    /// As [`read`](Self::read), for what a server-side apply makes: its unknown fields were refused before, and nulls in
    /// it are refused later.
    ///
    /// # Errors
    /// A field of a built-in kind has a value of another type.
    pub fn read_applied(&self, mut object: Value) -> Result<Value, ReadError> {
        if let Some(structure) = self.structure {
            return typed::convert(structure, &object, &mut Vec::new());
        }
        if let Some(metadata) = object.get_mut("metadata") {
            *metadata = sound_metadata(metadata)?;
        }
        prune::defaults(&self.root, &mut object);
        Ok(object)
    }

    /// As [`read`](Self::read), for what a strategic patch makes. Only built-in kinds have such patches.
    ///
    /// # Errors
    /// A field has a value of another type.
    pub fn read_patched(&self, object: Value) -> Result<Read, ReadError> {
        let Some(structure) = self.structure else { return self.read(object) };
        let mut unknown = Vec::new();
        let object = typed::convert(structure, &object, &mut unknown)?;
        unknown.sort_unstable();
        Ok(Read { object, unknown })
    }

    /// The object that a client sent in Protocol Buffers, in the form that it has in JSON. None if the kind isn't sent
    /// so: those that a definition describes never are.
    ///
    /// # Errors
    /// The bytes aren't an object of the kind.
    #[must_use]
    pub fn from_protobuf(&self, bytes: &[u8]) -> Option<Result<Value, WireError>> {
        Some(typed::decode(self.structure?, bytes))
    }

    /// The faults of an object by the definition's schema and rules. `old` is what an update replaces; `before` are the
    /// faults that were found elsewhere, in the metadata, and they come first in the result. Built-in kinds have no
    /// faults here: reading them refuses what can't be, and the rest is their own strategy's.
    #[must_use]
    pub fn validate(&self, new: &Value, old: Option<&Value>, part: Part, before: Vec<Cause>) -> Vec<Cause> {
        if self.builtin { before } else { validate::check(&self.root, new, old, part, before) }
    }

    /// As [`validate`](Self::validate), of an object that says it is of another kind: only the rules are tried.
    pub(crate) fn validate_another(
        &self,
        new: &Value,
        old: Option<&Value>,
        before: Vec<Cause>,
    ) -> Vec<Cause> {
        validate::check_rules(&self.root, new, old, before)
    }

    /// Whether an object says that it is of another kind or group. Nothing is known of its fields then.
    fn is_another(&self, object: &Value) -> bool {
        let text = |field: &str| object.get(field).and_then(Value::as_str);
        let group =
            |version: &str| version.split_once('/').map_or_else(String::new, |(group, _)| group.to_owned());
        text("kind").is_some_and(|kind| kind != self.kind)
            || group(text("apiVersion").unwrap_or_default()) != self.group
    }

    /// An object of the kind with nothing in it but what is always there.
    pub(crate) fn empty(&self) -> Value {
        let bare = json!({ "apiVersion": self.api_version(), "kind": self.kind });
        self.read(bare.clone()).map_or(bare, |read| read.object)
    }

    /// The schema of metadata, which all kinds share.
    pub(crate) fn metadata() -> &'static Node {
        &META
    }

    /// What the schema says of a field of the object itself.
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        if name == "metadata" { Some(&META) } else { self.root.field(name) }
    }
}

fn read_metadata(object: &mut Value, unknown: &mut Vec<String>) -> Result<(), ReadError> {
    if let Some(metadata) = object.get_mut("metadata") {
        *metadata = typed::read(&OBJECT_META, metadata, "metadata", unknown)?;
    }
    Ok(())
}

/// The metadata without the fields that can't be read, one by one.
fn sound_metadata(metadata: &Value) -> Result<Value, ReadError> {
    let read = |metadata: &Value| typed::read(&OBJECT_META, metadata, "metadata", &mut Vec::new());
    let Value::Object(fields) = metadata else { return read(metadata) };
    let sound = fields.iter().filter(|(name, value)| read(&json!({ name.as_str(): value })).is_ok());
    read(&Value::Object(sound.map(|(name, value)| (name.clone(), value.clone())).collect()))
}
