//! What the servers say about themselves: discovery, schemas, health. The real one serves much more, which is left out.

use serde_json::{Value, json};

use crate::{
    call::Call,
    compare::{Place, places},
    kinds::KINDS,
    side::Side,
};

const GROUPS: &[&str] = &["objectstorage.k8s.io", "coordination.k8s.io", "events.k8s.io", ""];
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// What is asked.
pub(crate) fn calls() -> Vec<Call> {
    let get = |path: &str, accept: Option<&'static str>| Call {
        method: "GET",
        path: path.to_owned(),
        accept,
        ..Call::default()
    };
    let mut calls = vec![
        get("/api", Some(AGGREGATED)),
        get("/apis", Some(AGGREGATED)),
        get("/healthz", None),
        get("/livez", None),
        get("/readyz", None),
        get("/openapi/v3", None),
    ];
    let paths = [
        "/api",
        "/apis",
        "/apis/objectstorage.k8s.io",
        "/apis/coordination.k8s.io",
        "/apis/events.k8s.io",
        "/api/v1",
        "/apis/objectstorage.k8s.io/v1alpha2",
        "/apis/coordination.k8s.io/v1",
        "/apis/events.k8s.io/v1",
    ];
    calls.extend(paths.map(|path| get(path, None)));
    calls
}

/// What differs between both sides in the answer to `call`.
pub(crate) async fn difference(sides: &mut [Side; 2], call: &Call) -> Vec<Place> {
    let [real, model] = sides;
    let (mut real, mut model) = tokio::join!(real.send(0, call), model.send(0, call));
    for answer in [&mut real, &mut model] {
        keep_ours(&mut answer["body"]);
    }
    places(&real, &model)
}

/// Leaves out groups, versions and kinds that the embedded server does not have, and hashes of what is left out.
fn keep_ours(body: &mut Value) {
    let Some(fields) = body.as_object_mut() else { return };
    fields.remove("serverAddressByClientCIDRs");
    for list in ["groups", "items"] {
        if let Some(Value::Array(groups)) = fields.get_mut(list) {
            groups.retain(|group| {
                let name = group["name"].as_str().or_else(|| group["metadata"]["name"].as_str());
                GROUPS.contains(&name.unwrap_or_default())
            });
            groups.sort_by_key(|group| group.to_string());
            groups.iter_mut().for_each(keep_versions);
        }
    }
    keep_versions(body);
    if let Some(Value::Object(paths)) = body.get_mut("paths") {
        paths.retain(|path, _| KINDS.iter().any(|kind| kind.api().trim_start_matches('/') == path));
        paths.values_mut().for_each(|path| *path = json!("found"));
    }
}

/// Of one group: the versions that have our kinds, and of them only those.
fn keep_versions(group: &mut Value) {
    let name =
        group["name"].as_str().or_else(|| group["metadata"]["name"].as_str()).unwrap_or_default().to_owned();
    if let Some(metadata) = group.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("creationTimestamp");
    }
    if let Some(Value::Array(versions)) = group.get_mut("versions") {
        versions.retain(|version| {
            let version = version["version"].as_str().unwrap_or_default();
            let version = if name.is_empty() { version.to_owned() } else { format!("{name}/{version}") };
            version == "/" || KINDS.iter().any(|kind| kind.version == version)
        });
        versions.iter_mut().for_each(keep_resources);
    }
    keep_resources(group);
}

fn keep_resources(version: &mut Value) {
    let Some(Value::Array(resources)) = version.get_mut("resources") else { return };
    resources.retain(|resource| {
        let name = resource["name"].as_str().or_else(|| resource["resource"].as_str()).unwrap_or_default();
        KINDS.iter().any(|kind| name.split('/').next() == Some(kind.plural))
    });
    for resource in resources.iter_mut().filter_map(Value::as_object_mut) {
        resource.remove("storageVersionHash");
    }
    resources.sort_by_key(|resource| resource.to_string());
}
