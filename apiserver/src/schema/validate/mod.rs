//! Whether an object is as its definition wants it.
//!
//! Three passes, as in the API server: the schema's types and limits, the uniqueness of lists' items, and the rules in
//! CEL, which aren't tried on an object that is wrong in its form. An update may keep faults that were there before
//! ("ratcheting"): a value that is equal to the one before passes the schema, and all rules but those that compare the
//! two.

mod correlate;
mod form;
mod limits;
mod lists;

use super::node::Node;
use super::{Cause, CauseReason, print, rules};
use correlate::Pair;
use serde_json::Value;

/// Which part of an object a write can change, and is checked in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it but the status.
    Main,
    /// The status.
    Status,
}

/// All faults of an object. Those in `before` were found by others; what they are decides whether rules are tried.
pub(super) fn check(
    root: &Node,
    new: &Value,
    old: Option<&Value>,
    part: Part,
    before: Vec<Cause>,
) -> Vec<Cause> {
    let mut causes = before;
    match (part, root.properties.get("status")) {
        (Part::Main, _) => form::check(root, "", "", new, old, &mut causes),
        (Part::Status, Some(node)) => {
            if let Some(status) = new.get("status") {
                let old = old.and_then(|old| old.get("status"));
                form::check(node, "status", "", status, old, &mut causes);
            }
        }
        (Part::Status, None) => {}
    }
    check_rules(root, new, old, causes)
}

/// The faults in lists and by rules alone, after those in `before`.
pub(super) fn check_rules(root: &Node, new: &Value, old: Option<&Value>, before: Vec<Cause>) -> Vec<Cause> {
    let mut causes = before;
    let mut repeated = Vec::new();
    lists::check(root, "", new, &mut repeated);
    if !repeated.is_empty() && old.is_none_or(|old| lists::are_sound(root, old)) {
        causes.append(&mut repeated);
    }
    if causes.iter().any(Cause::blocks_rules) {
        causes.push(Cause::invalid("", &Value::Null, RULES_SKIPPED));
    } else {
        walk_rules(root, "", new, old, None, &mut causes);
    }
    causes
}

/// What is said where rules aren't tried.
const RULES_SKIPPED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/// Checks the rules of a value and of all that is in it. `above` is the nearest value around it that can be compared
/// with what it was, for values that can't be compared themselves.
fn walk_rules<'a>(
    node: &'a Node,
    path: &str,
    new: &'a Value,
    old: Option<&'a Value>,
    above: Option<Pair<'a>>,
    causes: &mut Vec<Cause>,
) {
    if new.is_null() {
        return;
    }
    let old = old.filter(|old| !old.is_null());
    let pair = old.map(|old| Pair { node, new, old }).or(above);
    rules::check(node, path, new, old, &|| pair.is_some_and(Pair::is_unchanged), causes);
    match new {
        Value::Array(items) => {
            let Some(inner) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                let old = correlate::item(node, item, old);
                walk_rules(inner, &print::index(path, index), item, old, pair, causes);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let old = old.and_then(|old| old.get(name));
                match (node.properties.get(name), node.values.as_deref()) {
                    (Some(inner), _) => {
                        walk_rules(inner, &print::child(path, name), field, old, pair, causes);
                    }
                    (None, Some(inner)) => {
                        walk_rules(inner, &print::key(path, name), field, old, pair, causes);
                    }
                    (None, None) => {}
                }
            }
        }
        _ => {}
    }
}
