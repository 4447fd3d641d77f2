//! The controllers that other tests rely on: they are real, and do what they are for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::time::{Duration, Instant};

use cosi_tests::devcluster;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use serde_json::{Value, from_value, json};
use tokio::time::sleep;

/// How long anything may take that should take moments.
const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_deleted_namespace_goes_away_with_the_secret_in_it() {
    let name = "a_deleted_namespace_goes_away_with_the_secret_in_it";
    let Some(cluster) = devcluster::with_controllers_or_skip(name) else { return };
    let client = cluster.client().unwrap();
    let namespace = fresh_namespace(&client).await;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    create(&secrets, json!({ "metadata": { "name": "inside" } })).await;
    let namespaces: Api<Namespace> = Api::all(client);
    namespaces.delete(&namespace, &DeleteParams::default()).await.unwrap();
    wait_gone(&namespaces, &namespace).await;
    assert!(secrets.get_opt("inside").await.unwrap().is_none());
}

#[tokio::test]
async fn a_secret_whose_owner_is_gone_is_collected_and_no_other() {
    let name = "a_secret_whose_owner_is_gone_is_collected_and_no_other";
    let Some(cluster) = devcluster::with_controllers_or_skip(name) else { return };
    let client = cluster.client().unwrap();
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &fresh_namespace(&client).await);
    let owner = create(&secrets, json!({ "metadata": { "name": "owner" } })).await;
    let uid = owner.metadata.uid.unwrap();
    create(&secrets, json!({ "metadata": { "name": "owned", "ownerReferences": [reference(&uid)] } })).await;
    create(&secrets, json!({ "metadata": { "name": "free" } })).await;
    secrets.delete("owner", &DeleteParams::default()).await.unwrap();
    wait_gone(&secrets, "owned").await;
    assert!(secrets.get_opt("free").await.unwrap().is_some());
}

fn reference(uid: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": uid, "controller": true })
}

async fn create(secrets: &Api<Secret>, fields: Value) -> Secret {
    secrets.create(&PostParams::default(), &from_value(fields).unwrap()).await.unwrap()
}

async fn fresh_namespace(client: &Client) -> String {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let wanted = from_value(json!({ "metadata": { "generateName": "controllers-" } })).unwrap();
    namespaces.create(&PostParams::default(), &wanted).await.unwrap().metadata.name.unwrap()
}

async fn wait_gone<K>(api: &Api<K>, name: &str)
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let deadline = Instant::now() + SOON;
    while let Some(object) = api.get_opt(name).await.unwrap() {
        assert!(Instant::now() < deadline, "{object:?} is still there");
        sleep(Duration::from_millis(20)).await;
    }
}
