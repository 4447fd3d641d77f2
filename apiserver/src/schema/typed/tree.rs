//! A structure as a schema, so that patches go by one and the same for all kinds.

use super::{Items, Shape, Struct};
use crate::schema::node::{ListType, Node, Type};
use serde_json::Value;

/// The schema of a structure.
pub(in crate::schema) fn node(structure: &Struct) -> Node {
    Node {
        kind: Some(Type::Object),
        atomic: structure.atomic,
        properties: structure
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), of_shape(&field.shape)))
            .collect(),
        ..Node::default()
    }
}

fn of_shape(shape: &Shape) -> Node {
    let plain = |kind| Node { kind: Some(kind), ..Node::default() };
    let formatted = |kind, format: &str| {
        let mut node = plain(kind);
        node.limits.format = Some(format.to_owned());
        node
    };
    match shape {
        Shape::Text(_) => plain(Type::String),
        Shape::Bool => plain(Type::Boolean),
        Shape::Byte | Shape::Int32 => formatted(Type::Integer, "int32"),
        Shape::Int64 => formatted(Type::Integer, "int64"),
        Shape::Time | Shape::MicroTime => formatted(Type::String, "date-time"),
        Shape::Bytes => formatted(Type::String, "byte"),
        Shape::Map(inner) => Node { values: Some(Box::new(of_shape(inner))), ..plain(Type::Object) },
        Shape::List(inner, items) => {
            let list = match items {
                Items::Atomic => ListType::Atomic,
                Items::Set => ListType::Set,
                Items::By(key) => ListType::Map(vec![(*key).to_owned()]),
            };
            let mut items = of_shape(inner);
            if let ListType::Map(keys) = &list {
                // A text that a structure always has is empty if it is left out.
                for (name, field) in &mut items.properties {
                    if keys.contains(name) {
                        field.default = Some(Value::from(""));
                    }
                }
            }
            Node { items: Some(Box::new(items)), list, ..plain(Type::Array) }
        }
        Shape::Struct(structure) => node(structure),
        Shape::Raw => Node { preserves_unknown: true, atomic: true, ..plain(Type::Object) },
    }
}
