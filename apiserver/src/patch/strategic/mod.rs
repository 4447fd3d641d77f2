//! Strategic merge patches: merge patches that know which lists have keys. Only built-in kinds have them.

mod lists;

use super::PatchError;
use crate::schema::Kind;
use crate::schema::node::Node;
use crate::schema::print;
use serde_json::{Map, Value};

/// Says what becomes of the object or item that it stands in.
const DIRECTIVE: &str = "$patch";
/// Names the fields that stay.
const RETAIN_KEYS: &str = "$retainKeys";
/// Takes items out of a list of plain values.
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
/// Gives the order of a list's items.
const SET_ORDER: &str = "$setElementOrder/";

/// The object after a strategic merge patch.
///
/// # Errors
/// The patch isn't an object, or one of its directives can't be followed.
pub fn strategic(kind: &Kind, document: &Value, patch: &Value) -> Result<Value, PatchError> {
    let Value::Object(changes) = patch else {
        let found = print::type_name(patch);
        let text = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
        return Err(PatchError::Malformed(text));
    };
    let fields = document.as_object().cloned().unwrap_or_default();
    merge_fields(&|name| kind.field(name), fields, changes).map(Value::Object)
}

/// What the schema says of a field.
type Lookup<'a> = dyn Fn(&str) -> Option<&'a Node> + 'a;

fn merge_fields(
    schema: &Lookup<'_>,
    mut fields: Map<String, Value>,
    changes: &Map<String, Value>,
) -> Result<Map<String, Value>, PatchError> {
    if let Some(directive) = changes.get(DIRECTIVE) {
        return follow(directive, changes);
    }
    retain_keys(&mut fields, changes)?;
    for (name, change) in changes {
        if name == RETAIN_KEYS || name.starts_with(SET_ORDER) {
            continue;
        }
        if let Some(name) = name.strip_prefix(DELETE_FROM) {
            if let (Some(Value::Array(items)), Value::Array(gone)) = (fields.get_mut(name), change) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        let merged = match (fields.remove(name), change) {
            (_, Value::Null) => continue,
            (Some(Value::Object(inner)), Value::Object(changes)) => {
                let node = schema(name);
                merge_fields(&|name| node.and_then(|node| node.field(name)), inner, changes)
                    .map(Value::Object)?
            }
            (Some(Value::Array(items)), Value::Array(changes)) => {
                Value::Array(lists::merge(schema(name), items, changes)?)
            }
            (_, change) => match plain(change, true) {
                Some(value) => value,
                None => continue,
            },
        };
        fields.insert(name.clone(), merged);
    }
    lists::set_order(schema, &mut fields, changes)?;
    Ok(fields)
}

fn follow(directive: &Value, changes: &Map<String, Value>) -> Result<Map<String, Value>, PatchError> {
    match directive.as_str() {
        Some("replace") => {
            let mut whole = changes.clone();
            whole.remove(DIRECTIVE);
            Ok(whole)
        }
        Some("delete") => Ok(Map::new()),
        _ => {
            let whole = Value::Object(changes.clone());
            let text =
                format!("unknown patch type: {} in map: {}", print::shown(directive), print::shown(&whole));
            Err(PatchError::Mistyped(text))
        }
    }
}

fn retain_keys(fields: &mut Map<String, Value>, changes: &Map<String, Value>) -> Result<(), PatchError> {
    let Some(kept) = changes.get(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let kept = kept.as_array().ok_or_else(malformed)?;
    let is_kept = |name: &String| kept.iter().any(|kept| kept.as_str() == Some(name));
    let is_directive =
        |name: &String| name == RETAIN_KEYS || name.starts_with(DELETE_FROM) || name.starts_with(SET_ORDER);
    if changes.iter().any(|(name, change)| !change.is_null() && !is_directive(name) && !is_kept(name)) {
        return Err(malformed());
    }
    fields.retain(|name, _| is_kept(name));
    Ok(())
}

/// A new value, without directives and, at the places where they mean removal, without nulls. None if it is one for
/// removal itself.
fn plain(value: &Value, drop_nulls: bool) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => Some(
            fields
                .iter()
                .filter(|(_, field)| !(drop_nulls && field.is_null()))
                .filter_map(|(name, field)| Some((name.clone(), plain(field, drop_nulls)?)))
                .collect(),
        ),
        Value::Array(items) => Some(items.iter().filter_map(|item| plain(item, false)).collect()),
        scalar => Some(scalar.clone()),
    }
}

#[cfg(test)]
mod tests;
