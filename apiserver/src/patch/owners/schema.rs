//! What the schema says of the value at a path.

use super::element::Element;
use crate::schema::Kind;
use crate::schema::node::{ListType, Node, Type};
use serde_json::Value;

/// What the schema says of a value.
#[derive(Clone, Copy)]
pub(super) enum Schema<'a> {
    /// The object itself.
    Root(&'a Kind),
    /// A value in it.
    Node(&'a Node),
    /// Nothing.
    Unknown,
}

impl<'a> Schema<'a> {
    /// Of a field or a map's entry.
    pub(super) fn field(self, name: &str) -> Self {
        let node = match self {
            Self::Root(kind) => kind.field(name),
            Self::Node(node) => node.field(name),
            Self::Unknown => None,
        };
        node.map_or(Self::Unknown, Self::Node)
    }

    /// Of the items of a list.
    pub(super) fn items(self) -> Self {
        match self {
            Self::Node(node) => node.items.as_deref().map_or(Self::Unknown, Self::Node),
            _ => Self::Unknown,
        }
    }

    /// What a field is taken for if it is left out.
    pub(super) fn default_of(self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Node(node) => node.field(name)?.default.as_ref(),
            _ => None,
        }
    }

    /// Of what a step leads to.
    pub(super) fn step(self, element: &Element) -> Self {
        match element {
            Element::Field(name) => self.field(name),
            Element::Key(_) | Element::Value(_) => self.items(),
        }
    }

    /// How the items of a list are told apart.
    pub(super) fn list(self) -> &'a ListType {
        match self {
            Self::Node(node) => &node.list,
            _ => &ListType::Atomic,
        }
    }

    /// Whether the value has one owner as a whole, whatever is in it.
    pub(super) fn is_atomic(self) -> bool {
        matches!(self, Self::Node(node) if node.atomic)
    }

    /// Whether there is a field of this name, as opposed to any key of a map.
    pub(super) fn declares(self, name: &str) -> bool {
        match self {
            Self::Root(kind) => matches!(name, "apiVersion" | "kind") || kind.field(name).is_some(),
            Self::Node(node) => node.properties.contains_key(name),
            Self::Unknown => false,
        }
    }

    /// Whether fields of any name may be there.
    pub(super) fn is_open(self) -> bool {
        match self {
            Self::Root(_) => false,
            Self::Node(node) => node.is_map() || node.preserves_unknown || node.kind != Some(Type::Object),
            Self::Unknown => true,
        }
    }

    /// Whether any text, number or truth value fits: that is all that is asked of a text with a form, such as a time.
    pub(super) fn is_any_scalar(self) -> bool {
        let format = match self {
            Self::Node(node) => node.limits.format.as_deref(),
            _ => None,
        };
        self.kind() == Some(Type::String) && format.is_some_and(|format| format != "byte")
    }

    /// The type that a value must have.
    pub(super) fn kind(self) -> Option<Type> {
        match self {
            Self::Node(node) => node.kind,
            _ => None,
        }
    }
}
