use super::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new().unwrap());

fn ours() -> Value {
    document(&CATALOGUE, "objectstorage.k8s.io", "v1alpha2").unwrap()
}

/// All values of `$ref` in a document.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "$ref" => drop(found.insert(text.clone())),
                    field => references(field, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn each_version_of_a_group_has_a_document_at_an_address_of_its_own() {
    let index = index(&CATALOGUE);
    let paths: Vec<&String> = index["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "api/v1",
            "apis/apiextensions.k8s.io/v1",
            "apis/coordination.k8s.io/v1",
            "apis/events.k8s.io/v1",
            "apis/objectstorage.k8s.io/v1alpha2"
        ]
    );
    let addresses: BTreeSet<&str> = index["paths"]
        .as_object()
        .unwrap()
        .values()
        .map(|path| path["serverRelativeURL"].as_str().unwrap().split_once('=').unwrap().1)
        .collect();
    assert_eq!(addresses.len(), 5);
    assert_eq!(document(&CATALOGUE, "apps", "v1"), None);
}

#[test]
fn every_reference_leads_to_a_schema() {
    for (group, version) in [("", "v1"), ("events.k8s.io", "v1"), ("objectstorage.k8s.io", "v1alpha2")] {
        let document = document(&CATALOGUE, group, version).unwrap();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        assert!(found.len() >= 4, "{found:?}");
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }
}

#[test]
fn kubectl_finds_that_a_patch_may_be_checked_strictly() {
    let ours = ours();
    let patch = &ours["paths"]["/apis/objectstorage.k8s.io/v1alpha2/buckets/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({ "group": "objectstorage.k8s.io", "version": "v1alpha2", "kind": "Bucket" })
    );
    let names: Vec<&str> =
        patch["parameters"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"fieldValidation") && names.contains(&"force"), "{names:?}");
}

#[test]
fn a_defined_kind_is_described_as_its_definition_has_it() {
    let bucket = &ours()["components"]["schemas"]["io.k8s.objectstorage.v1alpha2.Bucket"];
    assert_eq!(
        bucket["properties"]["spec"]["properties"]["deletionPolicy"]["enum"],
        json!(["Retain", "Delete"])
    );
    assert_eq!(bucket["x-kubernetes-group-version-kind"][0]["kind"], "Bucket");
}
