use super::*;
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new().unwrap());

fn names(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_group_is_listed_once_with_its_version() {
    let groups = groups(&CATALOGUE);
    assert_eq!(
        names(&groups["groups"], "name"),
        ["events.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io", "objectstorage.k8s.io"]
    );
    let ours = group(&CATALOGUE, "objectstorage.k8s.io").unwrap();
    assert_eq!(ours["preferredVersion"]["groupVersion"], "objectstorage.k8s.io/v1alpha2");
    assert_eq!(group(&CATALOGUE, "apps"), None);
}

#[test]
fn resources_have_their_subresources_beside_them() {
    let core = resources(&CATALOGUE, "", "v1").unwrap();
    assert_eq!(
        names(&core["resources"], "name"),
        ["events", "namespaces", "namespaces/finalize", "namespaces/status", "secrets"]
    );
    let ours = resources(&CATALOGUE, "objectstorage.k8s.io", "v1alpha2").unwrap();
    assert_eq!(
        names(&ours["resources"], "name"),
        [
            "bucketaccessclasses",
            "bucketaccesses",
            "bucketaccesses/status",
            "bucketclaims",
            "bucketclaims/status",
            "bucketclasses",
            "buckets",
            "buckets/status"
        ]
    );
    assert_eq!(resources(&CATALOGUE, "objectstorage.k8s.io", "v1"), None);
}

#[test]
fn the_aggregated_document_has_all_that_the_single_ones_have() {
    for (core, groups) in [(true, vec![""]), (false, group_names(&CATALOGUE))] {
        let all = aggregated(&CATALOGUE, core);
        for (item, name) in all["items"].as_array().unwrap().iter().zip(groups) {
            for version in item["versions"].as_array().unwrap() {
                let single = resources(&CATALOGUE, name, version["version"].as_str().unwrap()).unwrap();
                let found = names(&version["resources"], "resource");
                let mut wanted = names(&single["resources"], "name");
                wanted.retain(|name| !name.contains('/'));
                assert_eq!(found, wanted);
            }
        }
    }
}
