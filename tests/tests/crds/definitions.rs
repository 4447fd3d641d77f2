//! The definitions as the server has taken them.

use cosi_tests::devcluster;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, ResourceExt};

#[tokio::test]
async fn the_server_has_no_objection_to_any_of_our_definitions() {
    let Some(cluster) = devcluster::or_skip("crds: definitions") else {
        return;
    };
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client().unwrap());
    for ours in cosi_api::crds() {
        let installed = api.get(&ours.name_any()).await.unwrap();
        let conditions = installed.status.and_then(|status| status.conditions).unwrap_or_default();
        let holds = |kind: &str| conditions.iter().any(|one| one.type_ == kind && one.status == "True");
        assert!(holds("Established"), "{}: {conditions:?}", ours.name_any());
        assert!(holds("NamesAccepted"), "{}: {conditions:?}", ours.name_any());
        // A schema that isn't structural is accepted all the same, and complained about here only.
        assert!(!holds("NonStructuralSchema"), "{}: {conditions:?}", ours.name_any());
        assert_eq!(installed.spec.names, ours.spec.names);
    }
}

#[tokio::test]
async fn the_server_stores_the_schemas_word_for_word() {
    let Some(cluster) = devcluster::or_skip("crds: schemas") else {
        return;
    };
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client().unwrap());
    for ours in cosi_api::crds() {
        let installed = api.get(&ours.name_any()).await.unwrap();
        assert_eq!(installed.spec.versions, ours.spec.versions, "{}", ours.name_any());
    }
}
