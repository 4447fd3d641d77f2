//! What the server serves, for clients that ask before they act: kubectl first of all.
//!
//! There are two forms: one document for each group and version, and one for all ("aggregated"), which is asked for by
//! media type.

mod aggregated;

pub use aggregated::{MEDIA_TYPE, aggregated};

use crate::schema::{Catalogue, Kind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// The versions of the core group: the answer to `/api`.
#[must_use]
pub fn core_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": address }]
    })
}

/// The groups but for the core group: the answer to `/apis`.
#[must_use]
pub fn groups(catalogue: &Catalogue) -> Value {
    let groups: Vec<Value> = group_names(catalogue).iter().map(|name| described(catalogue, name)).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// One group: the answer to `/apis/<group>`.
#[must_use]
pub fn group(catalogue: &Catalogue, name: &str) -> Option<Value> {
    let Value::Object(mut group) = described(catalogue, name) else { return None };
    group.insert("kind".to_owned(), json!("APIGroup"));
    group.insert("apiVersion".to_owned(), json!("v1"));
    group_names(catalogue).contains(&name).then_some(Value::Object(group))
}

/// The resources of a version of a group: the answer to `/api/v1` and `/apis/<group>/<version>`.
#[must_use]
pub fn resources(catalogue: &Catalogue, group: &str, version: &str) -> Option<Value> {
    let kinds = of_version(catalogue, group, version);
    let group_version = kinds.first()?.api_version();
    Some(object([
        ("kind", Some(json!("APIResourceList"))),
        ("apiVersion", (!group.is_empty()).then(|| json!("v1"))),
        ("groupVersion", Some(json!(group_version))),
        ("resources", Some(kinds.into_iter().flat_map(entries).collect())),
    ]))
}

/// The verbs that a kind's objects know.
#[must_use]
pub fn verbs(kind: &Kind) -> &'static [&'static str] {
    match (kind.builtin, kind.plural.as_str()) {
        (false, _) => &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        (true, "namespaces") => &["create", "delete", "get", "list", "patch", "update", "watch"],
        (true, _) => &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    }
}

/// The subresources of a kind, with their verbs.
#[must_use]
pub fn subresources(kind: &Kind) -> Vec<(&'static str, &'static [&'static str])> {
    let finalize: (&str, &[&str]) = ("finalize", &["update"]);
    let status: (&str, &[&str]) = ("status", &["get", "patch", "update"]);
    let mut all = Vec::new();
    all.extend((kind.plural == "namespaces").then_some(finalize));
    all.extend(kind.status.then_some(status));
    all
}

fn group_names(catalogue: &Catalogue) -> Vec<&str> {
    let mut names = Vec::new();
    for kind in catalogue.kinds().iter().filter(|kind| !kind.group.is_empty()) {
        if !names.contains(&kind.group.as_str()) {
            names.push(kind.group.as_str());
        }
    }
    names
}

/// The versions of a group, in the order of the catalogue.
fn versions<'a>(catalogue: &'a Catalogue, group: &str) -> Vec<&'a str> {
    let mut versions = Vec::new();
    for kind in catalogue.kinds().iter().filter(|kind| kind.group == group) {
        if !versions.contains(&kind.version.as_str()) {
            versions.push(kind.version.as_str());
        }
    }
    versions
}

/// The kinds of a version of a group, by name.
fn of_version<'a>(catalogue: &'a Catalogue, group: &str, version: &str) -> Vec<&'a Arc<Kind>> {
    let mut kinds: Vec<_> =
        catalogue.kinds().iter().filter(|kind| kind.group == group && kind.version == version).collect();
    kinds.sort_by(|one, other| one.plural.cmp(&other.plural));
    kinds
}

fn described(catalogue: &Catalogue, name: &str) -> Value {
    let versions: Vec<Value> = versions(catalogue, name)
        .into_iter()
        .map(|version| json!({ "groupVersion": format!("{name}/{version}"), "version": version }))
        .collect();
    json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
}

/// A kind's entries in a list of resources: its own and those of its subresources.
fn entries(kind: &Arc<Kind>) -> Vec<Value> {
    let main = object([
        ("name", Some(json!(kind.plural))),
        ("singularName", Some(json!(kind.singular))),
        ("namespaced", Some(json!(kind.namespaced))),
        ("kind", Some(json!(kind.kind))),
        ("verbs", Some(json!(verbs(kind)))),
        ("shortNames", some_names(&kind.short_names)),
        ("categories", categories(kind)),
        ("storageVersionHash", Some(json!(storage_hash(kind)))),
    ]);
    let inner = subresources(kind).into_iter().map(|(name, verbs)| {
        json!({
            "name": format!("{}/{name}", kind.plural), "singularName": "", "namespaced": kind.namespaced,
            "kind": kind.kind, "verbs": verbs
        })
    });
    std::iter::once(main).chain(inner).collect()
}

/// The names under which kubectl finds a kind among others. None of the kinds of COSI has any.
fn categories(kind: &Kind) -> Option<Value> {
    (kind.plural == "customresourcedefinitions").then(|| json!(["api-extensions"]))
}

/// Tells in which form a real server stores objects: both groups' Events as those of the core group, and definitions in
/// the version that they began with.
fn storage_hash(kind: &Kind) -> String {
    let (group, version) = match (kind.builtin, kind.plural.as_str()) {
        (true, "events") => ("", "v1"),
        (true, "customresourcedefinitions") => (kind.group.as_str(), "v1beta1"),
        _ => (kind.group.as_str(), kind.version.as_str()),
    };
    let digest = Sha256::digest(format!("{group}/{version}/{}", kind.kind));
    STANDARD.encode(digest.get(..8).unwrap_or_default())
}

fn some_names(names: &[String]) -> Option<Value> {
    (!names.is_empty()).then(|| json!(names))
}

/// An object of the fields that have a value.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests;
