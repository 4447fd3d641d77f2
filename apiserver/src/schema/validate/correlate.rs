//! Which value of the object before a value is to be compared with.

use crate::schema::node::{ListType, Node};
use serde_json::Value;

/// A value, and the one that was there before.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) node: &'a Node,
    pub(super) new: &'a Value,
    pub(super) old: &'a Value,
}

impl Pair<'_> {
    /// Whether the two are the same. Lists whose items have keys may be in another order; structures with fields that
    /// the schema doesn't know are never the same.
    pub(super) fn is_unchanged(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                new.len() == old.len() && self.items_are_unchanged(new, old)
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.iter().all(|(name, new)| match (self.node.field(name), old.get(name)) {
                        (Some(node), Some(old)) => Pair { node, new, old }.is_unchanged(),
                        _ => false,
                    })
            }
            (new, old) => new == old,
        }
    }

    fn items_are_unchanged(self, new: &[Value], old: &[Value]) -> bool {
        let (ListType::Map(_), Some(node)) = (&self.node.list, self.node.items.as_deref()) else {
            return new == old;
        };
        new.iter().all(|new| {
            item(self.node, new, Some(self.old)).is_some_and(|old| Pair { node, new, old }.is_unchanged())
        })
    }
}

/// The item of the list before that has the same keys. Only lists with keys have one.
pub(super) fn item<'a>(list: &Node, item: &Value, old: Option<&'a Value>) -> Option<&'a Value> {
    let ListType::Map(keys) = &list.list else { return None };
    let same = |other: &&Value| keys.iter().all(|key| other.get(key) == item.get(key));
    old?.as_array()?.iter().find(same)
}
