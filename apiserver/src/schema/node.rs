//! A structural schema: what a CustomResourceDefinition says of one value and of what is in it.

use super::rules::Rule;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use thiserror::Error;

/// A definition that can't be followed.
#[derive(Debug, Error)]
pub enum NodeError {
    /// A word that this server doesn't know: following the rest would accept what a real API server refuses.
    #[error("the schema isn't understood")]
    Schema(#[source] serde_json::Error),
    /// A pattern that isn't a regular expression.
    #[error("the pattern {pattern} can't be compiled")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: regex::Error,
    },
    /// A rule that isn't CEL.
    #[error("the rule {rule} can't be compiled: {reason}")]
    Rule {
        /// The rule.
        rule: String,
        /// What is wrong with it. A text, for the parser's errors can't be sent between threads.
        reason: String,
    },
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Type {
    /// A map or a structure.
    Object,
    /// A list.
    Array,
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
}

impl Type {
    /// The word in a schema.
    #[must_use]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// How the items of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    /// Not at all: the list is one value.
    #[default]
    Atomic,
    /// By their values, each of which is there once.
    Set,
    /// By these fields of theirs, whose values are there once.
    Map(Vec<String>),
}

/// What a schema says of one value.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Its type, if that is said.
    pub(crate) kind: Option<Type>,
    /// Whether it may be null.
    pub(crate) nullable: bool,
    /// Whether fields that the schema doesn't name are kept.
    pub(crate) preserves_unknown: bool,
    /// Whether owners are tracked, and patches applied, for the whole of it only.
    pub(crate) atomic: bool,
    /// The value that is stored when none is given.
    pub(crate) default: Option<Value>,
    /// The fields of a structure.
    pub(crate) properties: BTreeMap<String, Node>,
    /// The values of a map.
    pub(crate) values: Option<Box<Node>>,
    /// The items of a list.
    pub(crate) items: Option<Box<Node>>,
    /// How those are told apart.
    pub(crate) list: ListType,
    /// The limits to it.
    pub(crate) limits: Limits,
    /// The rules in CEL that it must follow.
    pub(crate) rules: Vec<Rule>,
}

/// The limits to a value.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// The fields that must be there.
    pub(crate) required: Vec<String>,
    /// The only values.
    pub(crate) choices: Vec<Value>,
    /// The form of a text or a number, by name.
    pub(crate) format: Option<String>,
    /// The form of a text, by an expression.
    pub(crate) pattern: Option<Regex>,
    /// The fewest characters.
    pub(crate) min_length: Option<u64>,
    /// The most characters.
    pub(crate) max_length: Option<u64>,
    /// The fewest items.
    pub(crate) min_items: Option<u64>,
    /// The most items.
    pub(crate) max_items: Option<u64>,
    /// The fewest fields.
    pub(crate) min_properties: Option<u64>,
    /// The most fields.
    pub(crate) max_properties: Option<u64>,
}

/// A schema as it is written. A word that isn't here is an error.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    #[serde(rename = "type")]
    kind: Option<Type>,
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    nullable: bool,
    #[serde(default, rename = "x-kubernetes-preserve-unknown-fields")]
    preserves_unknown: bool,
    #[serde(rename = "x-kubernetes-map-type")]
    map_type: Option<String>,
    default: Option<Value>,
    #[serde(default)]
    properties: BTreeMap<String, Written>,
    additional_properties: Option<Box<Written>>,
    items: Option<Box<Written>>,
    #[serde(rename = "x-kubernetes-list-type")]
    list_type: Option<String>,
    #[serde(default, rename = "x-kubernetes-list-map-keys")]
    list_keys: Vec<String>,
    #[serde(default)]
    required: Vec<String>,
    #[serde(default, rename = "enum")]
    choices: Vec<Value>,
    format: Option<String>,
    pattern: Option<String>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    min_properties: Option<u64>,
    max_properties: Option<u64>,
    #[serde(default, rename = "x-kubernetes-validations")]
    rules: Vec<super::rules::WrittenRule>,
}

impl Node {
    /// Reads a schema as a definition has it.
    ///
    /// # Errors
    /// The schema uses a word that isn't known here, or has a pattern or a rule that can't be compiled.
    pub(crate) fn parse(schema: &Value) -> Result<Self, NodeError> {
        Written::deserialize(schema).map_err(NodeError::Schema)?.compile()
    }

    /// What the schema says of the field, or of the map's value, of this name.
    #[must_use]
    pub(crate) fn field(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or(self.values.as_deref())
    }

    /// Whether it may have any keys, rather than known fields.
    #[must_use]
    pub(crate) fn is_map(&self) -> bool {
        self.values.is_some()
    }
}

impl Written {
    fn compile(self) -> Result<Node, NodeError> {
        let limits = self.limits()?;
        let list = match self.list_type.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(self.list_keys),
            _ => ListType::Atomic,
        };
        let boxed = |inner: Option<Box<Self>>| inner.map(|inner| inner.compile().map(Box::new)).transpose();
        Ok(Node {
            kind: self.kind,
            nullable: self.nullable,
            preserves_unknown: self.preserves_unknown,
            atomic: self.map_type.as_deref() == Some("atomic"),
            default: self.default,
            properties: self
                .properties
                .into_iter()
                .map(|(name, property)| Ok((name, property.compile()?)))
                .collect::<Result<_, NodeError>>()?,
            values: boxed(self.additional_properties)?,
            items: boxed(self.items)?,
            list,
            limits,
            rules: self.rules.into_iter().map(Rule::compile).collect::<Result<_, _>>()?,
        })
    }

    fn limits(&self) -> Result<Limits, NodeError> {
        let compiled = |pattern: &String| {
            Regex::new(pattern).map_err(|source| NodeError::Pattern { pattern: pattern.clone(), source })
        };
        Ok(Limits {
            required: self.required.clone(),
            choices: self.choices.clone(),
            format: self.format.clone(),
            pattern: self.pattern.as_ref().map(compiled).transpose()?,
            min_length: self.min_length,
            max_length: self.max_length,
            min_items: self.min_items,
            max_items: self.max_items,
            min_properties: self.min_properties,
            max_properties: self.max_properties,
        })
    }
}
