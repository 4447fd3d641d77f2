//! The rules that go beyond a field's form, in the Common Expression Language (CEL) that the API server evaluates.
//!
//! A rule with `oldSelf` on an optional field isn't evaluated when the field comes or goes; that is why most fields
//! have a second rule, on the object that they are in.

use schemars::Schema;
use serde_json::{Value, json};

/// CEL keywords, which a rule must write as `__word__` where they name a field.
const CEL_KEYWORDS: [&str; 2] = ["namespace", "package"];

/// A field that keeps its first value.
pub(crate) fn immutable(what: &'static str) -> impl Fn(&mut Schema) {
    move |schema| add(schema, "self == oldSelf", &format!("{what} is immutable"))
}

/// A field that may be filled in later and then keeps its value.
pub(crate) fn immutable_once_set(what: &'static str) -> impl Fn(&mut Schema) {
    move |schema| add(schema, "self == oldSelf", &format!("{what} is immutable once set"))
}

/// On the object that has the field: there from the start, or never.
pub(crate) fn neither_added_nor_removed(field: &'static str) -> impl Fn(&mut Schema) {
    move |schema| {
        let name = in_cel(field);
        let rule = format!("has(oldSelf.{name}) == has(self.{name})");
        add(schema, &rule, &format!("{field} cannot be added or removed after creation"));
    }
}

/// On the object that has the field: once there, always there.
pub(crate) fn never_removed(field: &'static str) -> impl Fn(&mut Schema) {
    move |schema| {
        let name = in_cel(field);
        let rule = format!("!has(oldSelf.{name}) || has(self.{name})");
        add(schema, &rule, &format!("{field} cannot be removed once set"));
    }
}

/// On the object that has the fields: one of the two, not both.
pub(crate) fn exactly_one_of(first: &'static str, second: &'static str) -> impl Fn(&mut Schema) {
    move |schema| {
        let rule = format!("has(self.{first}) != has(self.{second})");
        add(schema, &rule, &format!("exactly one of {first} and {second} must be set"));
    }
}

/// A text that can name an object.
pub(crate) fn must_be_dns1123_subdomain(schema: &mut Schema) {
    let rule = "!format.dns1123Subdomain().validate(self).hasValue()";
    add(schema, rule, "must be the name of an object: lower-case letters, digits, '-' and '.'");
}

/// A text that can name a namespace.
pub(crate) fn must_be_dns1123_label(schema: &mut Schema) {
    let rule = "!format.dns1123Label().validate(self).hasValue()";
    add(schema, rule, "must be the name of a namespace: lower-case letters, digits and '-'");
}

fn in_cel(field: &str) -> String {
    if CEL_KEYWORDS.contains(&field) { format!("__{field}__") } else { field.to_owned() }
}

fn add(schema: &mut Schema, rule: &str, message: &str) {
    let rules = schema.ensure_object().entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    if let Value::Array(rules) = rules {
        rules.push(json!({ "rule": rule, "message": message }));
    }
}
