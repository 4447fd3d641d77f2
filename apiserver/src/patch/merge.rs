//! JSON merge patches (RFC 7386), with the small liberties of the API server's library.

use super::PatchError;
use serde_json::{Map, Value};

/// What is said of a merge patch that is none.
pub const NO_MERGE_PATCH: &str = "Invalid JSON Patch";

/// The object after a merge patch: fields are replaced one by one, null takes a field out, lists are replaced whole. A
/// list takes the place of the object itself.
///
/// # Errors
/// The patch is neither an object nor a list.
pub fn merge(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    match (document, patch) {
        (Value::Object(fields), Value::Object(changes)) => {
            let mut fields = fields.clone();
            merge_fields(&mut fields, changes);
            Ok(Value::Object(fields))
        }
        (_, Value::Object(_)) => Ok(without_nulls(patch)),
        (_, Value::Array(_)) => Ok(patch.clone()),
        _ => Err(PatchError::Malformed(NO_MERGE_PATCH.to_owned())),
    }
}

fn merge_fields(fields: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
            continue;
        }
        match (fields.get_mut(name), change) {
            (Some(Value::Object(inner)), Value::Object(changes)) => merge_fields(inner, changes),
            (Some(inner @ Value::Object(_)), change) => *inner = change.clone(),
            _ => drop(fields.insert(name.clone(), without_nulls(change))),
        }
    }
}

/// A value without the fields that are null. The items of lists stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, field)| !field.is_null())
            .map(|(name, field)| (name.clone(), without_nulls(field)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!({ "a": 1, "b": { "c": 2 } }), json!({ "b": { "d": 3 } }), json!({ "a": 1, "b": { "c": 2, "d": 3 } }))]
    #[case(json!({ "a": 1, "b": 2 }), json!({ "a": null, "z": null }), json!({ "b": 2 }))]
    #[case(json!({ "a": [1, 2] }), json!({ "a": [3] }), json!({ "a": [3] }))]
    #[case(json!({ "a": 1 }), json!({ "a": { "b": null, "c": [{ "d": null }] } }), json!({ "a": { "c": [{}] } }))]
    fn fields_are_merged_one_by_one(#[case] before: Value, #[case] patch: Value, #[case] after: Value) {
        assert_eq!(merge(&before, &patch).unwrap(), after);
    }

    #[test]
    fn a_patch_that_is_neither_an_object_nor_a_list_is_malformed() {
        for patch in [json!(null), json!("text"), json!(1)] {
            assert!(matches!(merge(&json!({}), &patch), Err(PatchError::Malformed(_))), "{patch}");
        }
    }

    /// Objects without nulls, which are the ones that the API server stores.
    fn objects() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i8>().prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from)];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..3).prop_map(Value::from_iter),
            ]
        });
        prop::collection::btree_map("[abc]", value, 0..4).prop_map(Value::from_iter)
    }

    fn difference(from: &Value, to: &Value) -> Value {
        let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
        let gone = from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name.clone(), Value::Null));
        let changed =
            to.iter().filter(|(name, value)| from.get(*name) != Some(value)).map(|(name, value)| {
                (name.clone(), from.get(name).map_or_else(|| value.clone(), |from| difference(from, value)))
            });
        gone.chain(changed).collect()
    }

    proptest! {
        #[test]
        fn the_difference_between_two_objects_makes_one_into_the_other(from in objects(), to in objects()) {
            prop_assert_eq!(merge(&from, &difference(&from, &to)).unwrap(), to);
        }

        #[test]
        fn a_merge_patch_that_is_applied_twice_does_no_more(from in objects(), patch in objects()) {
            let once = merge(&from, &patch).unwrap();
            prop_assert_eq!(merge(&once, &patch).unwrap(), once);
        }
    }
}
