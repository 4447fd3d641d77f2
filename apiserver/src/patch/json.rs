//! JSON patches (RFC 6902), as the API server's library applies them.
//!
//! That one departs from the standard in places, which is why no crate is used: a field that isn't there can be replaced,
//! a missing field passes the test for null, an index may be negative, and the text before a path's first slash is
//! overlooked.

use super::PatchError;
use crate::schema::print;
use serde_json::{Map, Value};

/// The most operations in one patch.
const MAX_OPERATIONS: usize = 10_000;

/// The fields that an operation may have.
const FIELDS: [&str; 4] = ["op", "path", "from", "value"];

/// The object after the operations of a JSON patch. If it is `checked`, fields of a wrong type are refused before
/// anything else, as the API server does while it looks for odd ones.
///
/// # Errors
/// The patch isn't a list of operations, or one of them can't be applied.
pub fn json(document: &Value, patch: &Value, checked: bool) -> Result<Value, PatchError> {
    let operations = decode(patch, checked)?;
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooLong { max: MAX_OPERATIONS, count: operations.len() });
    }
    let mut object = document.clone();
    for operation in &operations {
        apply(&mut object, operation).map_err(PatchError::Unfit)?;
    }
    Ok(object)
}

/// One operation. Which of the fields are there depends on the operation.
struct Operation<'a> {
    op: Option<&'a str>,
    path: Option<&'a str>,
    from: Option<&'a str>,
    value: Value,
}

impl<'a> Operation<'a> {
    fn of(item: &'a Value) -> Self {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let value = item.get("value").cloned().unwrap_or_default();
        Self { op: text("op"), path: text("path"), from: text("from"), value }
    }
}

fn decode(patch: &Value, checked: bool) -> Result<Vec<Operation<'_>>, PatchError> {
    let malformed = |found: &Value, rest: &str| {
        let found = print::type_name(found);
        let before = if checked { "error decoding patch: " } else { "" };
        Err(PatchError::Malformed(format!("{before}json: cannot unmarshal {found} into Go {rest}")))
    };
    let (all, one) = if checked {
        ("value of type []handlers.jsonPatchOp", "value of type handlers.jsonPatchOp")
    } else {
        ("value of type jsonpatch.Patch", "value of type jsonpatch.Operation")
    };
    let items = match patch {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items,
        other => return malformed(other, all),
    };
    for item in items {
        if !item.is_object() && !item.is_null() {
            return malformed(item, one);
        }
        for name in ["op", "path", "from"].into_iter().filter(|_| checked) {
            if let Some(field) = item.get(name).filter(|field| !field.is_string() && !field.is_null()) {
                return malformed(field, &format!("struct field jsonPatchOp.{name} of type string"));
            }
        }
    }
    Ok(items.iter().map(Operation::of).collect())
}

/// What is odd about the fields of operations: those that nobody knows, after what is said of those that come twice.
#[must_use]
pub fn odd_operations(patch: &Value, doubled: &[String]) -> Vec<String> {
    let operations = patch.as_array().into_iter().flatten().enumerate();
    let unknown = operations.flat_map(|(index, operation)| {
        let names = operation.as_object().into_iter().flat_map(Map::keys);
        names
            .filter(|name| !FIELDS.contains(&name.as_str()))
            .map(move |name| format!("unknown field {}", print::quoted(&format!("[{index}].{name}"))))
    });
    doubled.iter().cloned().chain(unknown).map(|text| format!("json patch {text}")).collect()
}

fn apply(document: &mut Value, operation: &Operation<'_>) -> Result<(), String> {
    let kind = operation.op.unwrap_or("unknown");
    let missing = |what: &str| format!("{kind} operation failed to decode {what}: missing value");
    let path = || operation.path.ok_or_else(|| missing("path"));
    let from = || {
        operation.from.ok_or_else(|| {
            format!("{kind} operation failed to decode from: operation, missing from field: missing value")
        })
    };
    match kind {
        "add" => add(document, path()?, operation.value.clone()),
        "remove" => remove(document, path()?),
        "replace" => replace(document, path()?, operation.value.clone()),
        "move" => {
            let value = take(document, from()?)?;
            put(document, kind, path()?, value)
        }
        "copy" => {
            let value = read_from(document, from()?)?;
            put(document, kind, path()?, value)
        }
        "test" => test(document, path()?, &operation.value),
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (parent, key) = parent(document, path).ok_or_else(|| {
        format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
    })?;
    insert(parent, &key, value).map_err(|error| format!("error in add for path: '{path}': {error}"))
}

fn remove(document: &mut Value, path: &str) -> Result<(), String> {
    let (parent, key) = parent(document, path).ok_or_else(|| {
        format!("remove operation does not apply: doc is missing path: \"{path}\": missing value")
    })?;
    take_out(parent, &key).map(drop).map_err(|error| format!("error in remove for path: '{path}': {error}"))
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err("replace operation value must be object or array".to_owned());
        }
        *document = value;
        return Ok(());
    }
    let (parent, key) = parent(document, path).ok_or_else(|| {
        format!("replace operation does not apply: doc is missing path: {path}: missing value")
    })?;
    match parent {
        Value::Object(fields) => drop(fields.insert(key, value)),
        Value::Array(items) => {
            let place =
                position(&key, items.len()).ok().and_then(|index| items.get_mut(index)).ok_or_else(|| {
                    format!("replace operation does not apply: doc is missing key: {path}: missing value")
                })?;
            *place = value;
        }
        _ => {}
    }
    Ok(())
}

fn take(document: &mut Value, from: &str) -> Result<Value, String> {
    let (parent, key) = parent(document, from).ok_or_else(|| {
        format!("move operation does not apply: doc is missing from path: {from}: missing value")
    })?;
    take_out(parent, &key).map_err(|error| format!("error in move for path: '{key}': {error}"))
}

fn read_from(document: &mut Value, from: &str) -> Result<Value, String> {
    let (parent, key) = parent(document, from).ok_or_else(|| {
        format!("copy operation does not apply: doc is missing from path: {from}: missing value")
    })?;
    let value = get(parent, &key).map_err(|error| format!("error in copy for from: '{from}': {error}"))?;
    Ok(value.cloned().unwrap_or_default())
}

/// Adds a value that was taken from elsewhere.
fn put(document: &mut Value, kind: &str, path: &str, value: Value) -> Result<(), String> {
    let (parent, key) = parent(document, path).ok_or_else(|| {
        format!("{kind} operation does not apply: doc is missing destination path: {path}: missing value")
    })?;
    insert(parent, &key, value).map_err(|error| match kind {
        "copy" => format!("error while adding value during copy: {error}"),
        _ => format!("error in {kind} for path: '{path}': {error}"),
    })
}

fn test(document: &mut Value, path: &str, wanted: &Value) -> Result<(), String> {
    let failed = || Err(format!("testing value {path} failed: test failed"));
    if path.is_empty() {
        return if document == wanted { Ok(()) } else { failed() };
    }
    let (parent, key) = parent(document, path)
        .ok_or_else(|| format!("test operation does not apply: is missing path: {path}: missing value"))?;
    let found = get(parent, &key).map_err(|error| format!("error in test for path: '{path}': {error}"))?;
    if found.unwrap_or(&Value::Null) == wanted { Ok(()) } else { failed() }
}

/// The object or list that a path leads into, and the key there.
fn parent<'a>(document: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (_, rest) = path.split_once('/')?;
    let mut parts: Vec<String> =
        rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    let key = parts.pop()?;
    let mut at = document;
    for part in parts {
        at = match at {
            Value::Object(fields) => fields.get_mut(&part)?,
            Value::Array(items) => {
                let index = position(&part, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    (at.is_object() || at.is_array()).then_some((at, key))
}

fn get<'a>(parent: &'a Value, key: &str) -> Result<Option<&'a Value>, String> {
    match parent {
        Value::Array(items) => {
            let index = position(key, items.len())?;
            items.get(index).map(Some).ok_or_else(|| out_of_range(key))
        }
        parent => Ok(parent.get(key)),
    }
}

fn insert(parent: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match parent {
        Value::Object(fields) => drop(fields.insert(key.to_owned(), value)),
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            number(key).map_err(|error| format!("value was not a proper array index: '{key}': {error}"))?;
            let index = position(key, items.len() + 1)?;
            if index > items.len() {
                return Err(out_of_range(key));
            }
            items.insert(index, value);
        }
        _ => {}
    }
    Ok(())
}

fn take_out(parent: &mut Value, key: &str) -> Result<Value, String> {
    match parent {
        Value::Object(fields) => fields
            .remove(key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
        Value::Array(items) => {
            let index = position(key, items.len())?;
            if index < items.len() { Ok(items.remove(index)) } else { Err(out_of_range(key)) }
        }
        _ => Ok(Value::Null),
    }
}

/// The place of an item in a list of this length; a negative number counts from the end.
fn position(key: &str, length: usize) -> Result<usize, String> {
    let index = number(key)?;
    let from_start = if index < 0 { i64::try_from(length).unwrap_or(i64::MAX) + index } else { index };
    usize::try_from(from_start).map_err(|_| out_of_range(key))
}

fn number(key: &str) -> Result<i64, String> {
    key.parse()
        .map_err(|_| format!("strconv.Atoi: parsing {}: invalid syntax", crate::schema::print::quoted(key)))
}

fn out_of_range(key: &str) -> String {
    let index = number(key).unwrap_or_default();
    format!("Unable to access invalid index: {index}: invalid index referenced")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!([{ "op": "add", "path": "/b", "value": 2 }]), json!({ "a": [1, 2], "b": 2 }))]
    #[case(json!([{ "op": "add", "path": "/a/-", "value": 3 }]), json!({ "a": [1, 2, 3] }))]
    #[case(json!([{ "op": "add", "path": "/a/0", "value": 0 }]), json!({ "a": [0, 1, 2] }))]
    #[case(json!([{ "op": "remove", "path": "/a/-1" }]), json!({ "a": [1] }))]
    #[case(json!([{ "op": "replace", "path": "/z", "value": 1 }]), json!({ "a": [1, 2], "z": 1 }))]
    #[case(json!([{ "op": "move", "from": "/a", "path": "/b" }]), json!({ "b": [1, 2] }))]
    #[case(json!([{ "op": "copy", "from": "/a/1", "path": "/b~1c" }]), json!({ "a": [1, 2], "b/c": 2 }))]
    #[case(json!([{ "op": "test", "path": "/a/0", "value": 1 }]), json!({ "a": [1, 2] }))]
    #[case(json!([{ "op": "test", "path": "/z", "value": null }]), json!({ "a": [1, 2] }))]
    #[case(json!([]), json!({ "a": [1, 2] }))]
    fn operations_are_applied_in_turn(#[case] patch: Value, #[case] after: Value) {
        assert_eq!(json(&json!({ "a": [1, 2] }), &patch, true).unwrap(), after);
    }

    #[rstest]
    #[case(json!({ "op": "test", "path": "/a", "value": 2 }), "testing value /a failed: test failed")]
    #[case(json!({ "op": "remove", "path": "/z" }),
        "error in remove for path: '/z': Unable to remove nonexistent key: z: missing value")]
    #[case(json!({ "op": "add", "path": "/z/y", "value": 1 }),
        "add operation does not apply: doc is missing path: \"/z/y\": missing value")]
    #[case(json!({ "op": "add", "path": "/a/9", "value": 1 }),
        "error in add for path: '/a/9': Unable to access invalid index: 9: invalid index referenced")]
    #[case(json!({ "op": "move", "from": "/z", "path": "/y" }),
        "error in move for path: 'z': Unable to remove nonexistent key: z: missing value")]
    #[case(json!({ "op": "jump", "path": "/a" }), "Unexpected kind: jump")]
    #[case(json!({ "op": "remove" }), "remove operation failed to decode path: missing value")]
    fn an_operation_that_does_not_fit_is_refused(#[case] operation: Value, #[case] message: &str) {
        let error = json(&json!({ "a": [1, 2] }), &json!([operation]), true).unwrap_err();
        assert_eq!(error, PatchError::Unfit(message.to_owned()));
    }

    #[rstest]
    #[case(json!({}), "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp")]
    #[case(json!([1]), "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp")]
    #[case(json!([{ "op": 1 }]), "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string")]
    fn what_is_no_list_of_operations_is_malformed(#[case] patch: Value, #[case] message: &str) {
        let error = json(&json!({}), &patch, true).unwrap_err();
        assert_eq!(error, PatchError::Malformed(format!("error decoding patch: {message}")));
    }

    #[test]
    fn fields_that_no_operation_has_are_told() {
        let patch = json!([{ "op": "add", "path": "/a", "value": 1, "why": "because" }]);
        assert_eq!(odd_operations(&patch, &[]), [r#"json patch unknown field "[0].why""#]);
    }

    #[test]
    fn there_is_a_limit_to_the_number_of_operations() {
        let patch: Value = (0..10_001).map(|_| json!({ "op": "test", "path": "/a" })).collect();
        assert_eq!(
            json(&json!({}), &patch, true).unwrap_err(),
            PatchError::TooLong { max: 10_000, count: 10_001 }
        );
    }
}
