use super::*;
use crate::schema::Catalogue;
use rstest::rstest;
use serde_json::json;
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new().unwrap());

fn patched(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    strategic(CATALOGUE.find("", "v1", "secrets").unwrap(), document, patch)
}

#[rstest]
#[case(json!({ "data": { "a": "1" } }), json!({ "data": { "b": "2", "a": null } }), json!({ "data": { "b": "2" } }))]
#[case(json!({ "data": { "a": "1" } }), json!({ "data": { "$patch": "replace", "b": "2" } }),
    json!({ "data": { "b": "2" } }))]
#[case(json!({ "data": { "a": "1" } }), json!({ "data": { "$patch": "delete" } }), json!({ "data": {} }))]
#[case(json!({ "data": { "a": "1", "b": "2" } }), json!({ "data": { "$retainKeys": ["b", "c"], "c": "3" } }),
    json!({ "data": { "b": "2", "c": "3" } }))]
#[case(json!({}), json!({ "data": { "a": "1", "b": null } }), json!({ "data": { "a": "1" } }))]
fn maps_are_merged_and_directives_followed(
    #[case] before: Value,
    #[case] patch: Value,
    #[case] after: Value,
) {
    assert_eq!(patched(&before, &patch).unwrap(), after);
}

#[rstest]
#[case(json!(["a", "b"]), json!({ "finalizers": ["c"] }), json!(["c", "a", "b"]))]
#[case(json!(["a", "b"]), json!({ "finalizers": ["b", "a"] }), json!(["b", "a"]))]
#[case(json!(["a", "b"]), json!({ "$deleteFromPrimitiveList/finalizers": ["a"] }), json!(["b"]))]
#[case(json!(["a", "b"]), json!({ "$setElementOrder/finalizers": ["b", "a"] }), json!(["b", "a"]))]
#[case(json!(["a", "b"]), json!({ "$setElementOrder/finalizers": ["c", "a"], "finalizers": ["c"] }),
    json!(["c", "a", "b"]))]
fn finalizers_are_a_set(#[case] before: Value, #[case] patch: Value, #[case] after: Value) {
    let document = json!({ "metadata": { "finalizers": before } });
    let patched = patched(&document, &json!({ "metadata": patch })).unwrap();
    assert_eq!(patched["metadata"]["finalizers"], after);
}

#[rstest]
#[case(json!([{ "uid": "1", "name": "b" }]), json!([{ "uid": "1", "name": "b" }]))]
#[case(json!([{ "uid": "2", "name": "c" }]), json!([{ "uid": "2", "name": "c" }, { "uid": "1", "name": "a" }]))]
#[case(json!([{ "uid": "1", "$patch": "delete" }]), json!([]))]
#[case(json!([{ "uid": "2" }, { "$patch": "replace" }]), json!([{ "uid": "2" }]))]
fn owner_references_go_by_uid(#[case] change: Value, #[case] after: Value) {
    let document = json!({ "metadata": { "ownerReferences": [{ "uid": "1", "name": "a" }] } });
    let patched = patched(&document, &json!({ "metadata": { "ownerReferences": change } })).unwrap();
    assert_eq!(patched["metadata"]["ownerReferences"], after);
}

#[test]
fn fields_outside_of_those_to_retain_are_malformed() {
    let patch = json!({ "data": { "$retainKeys": ["b"], "c": "3" } });
    let error = patched(&json!({ "data": {} }), &patch).unwrap_err();
    assert_eq!(error, PatchError::Malformed("invalid patch format of retainKeys".to_owned()));
    assert!(matches!(patched(&json!({}), &json!([])), Err(PatchError::Malformed(_))));
}
