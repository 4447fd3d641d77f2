//! All groups and all their resources in one document.

use super::{categories, group_names, object, of_version, some_names, subresources, verbs, versions};
use crate::schema::{Catalogue, Kind};
use serde_json::{Value, json};
use std::sync::Arc;

/// The media type of the document. Its older form, `v2beta1`, is served no more.
pub const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The answer to `/api` (`core`) or to `/apis` for clients that ask for all at once.
#[must_use]
pub fn aggregated(catalogue: &Catalogue, core: bool) -> Value {
    let groups = if core { vec![""] } else { group_names(catalogue) };
    let items: Vec<Value> = groups.into_iter().map(|group| described(catalogue, group)).collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items
    })
}

fn described(catalogue: &Catalogue, group: &str) -> Value {
    let versions: Vec<Value> = versions(catalogue, group)
        .into_iter()
        .map(|version| {
            let resources: Vec<Value> =
                of_version(catalogue, group, version).into_iter().map(resource).collect();
            json!({ "version": version, "resources": resources, "freshness": "Current" })
        })
        .collect();
    let metadata = if group.is_empty() { json!({}) } else { json!({ "name": group }) };
    json!({ "metadata": metadata, "versions": versions })
}

fn resource(kind: &Arc<Kind>) -> Value {
    let inner: Vec<Value> = subresources(kind)
        .into_iter()
        .map(|(name, verbs)| json!({ "subresource": name, "responseKind": response_kind(kind), "verbs": verbs }))
        .collect();
    let scope = if kind.namespaced { "Namespaced" } else { "Cluster" };
    object([
        ("resource", Some(json!(kind.plural))),
        ("responseKind", Some(response_kind(kind))),
        ("scope", Some(json!(scope))),
        ("singularResource", Some(json!(kind.singular))),
        ("verbs", Some(json!(verbs(kind)))),
        ("shortNames", some_names(&kind.short_names)),
        ("categories", categories(kind)),
        ("subresources", (!inner.is_empty()).then(|| json!(inner))),
    ])
}

/// The kind of answers. Built-in kinds say only the name, for group and version are those around it.
fn response_kind(kind: &Kind) -> Value {
    let (group, version) = if kind.builtin { ("", "") } else { (kind.group.as_str(), kind.version.as_str()) };
    json!({ "group": group, "version": version, "kind": kind.kind })
}
