//! The API's description in OpenAPI v3, one document for each version of a group, as far as kubectl reads it: to explain
//! fields, to see that a patch may ask for strict validation, and to make patches.

mod paths;
mod schemas;

use crate::schema::{Catalogue, Kind};
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// Where the documents are: the answer to `/openapi/v3`. Each address changes with its document, for clients keep them.
#[must_use]
pub fn index(catalogue: &Catalogue) -> Value {
    let mut paths = Map::new();
    for kind in catalogue.kinds() {
        let path = version_path(kind);
        if !paths.contains_key(&path)
            && let Some(document) = document(catalogue, &kind.group, &kind.version)
        {
            let mut hasher = DefaultHasher::new();
            document.to_string().hash(&mut hasher);
            let address = format!("/openapi/v3/{path}?hash={:016X}", hasher.finish());
            paths.insert(path, json!({ "serverRelativeURL": address }));
        }
    }
    json!({ "paths": paths })
}

/// The document of a version of a group: the answer to `/openapi/v3/api/v1` and `/openapi/v3/apis/<group>/<version>`.
#[must_use]
pub fn document(catalogue: &Catalogue, group: &str, version: &str) -> Option<Value> {
    let kinds: Vec<&Arc<Kind>> =
        catalogue.kinds().iter().filter(|kind| kind.group == group && kind.version == version).collect();
    if kinds.is_empty() {
        return None;
    }
    let mut all = Map::new();
    let mut components = schemas::shared();
    for kind in kinds {
        all.append(&mut paths::of(kind));
        components.append(&mut schemas::of(kind));
    }
    Some(json!({
        "openapi": "3.0.0",
        "info": { "title": "COSI's API server in memory", "version": env!("CARGO_PKG_VERSION") },
        "paths": all,
        "components": { "schemas": components }
    }))
}

/// The path of a version without the slash before it.
fn version_path(kind: &Kind) -> String {
    match kind.group.as_str() {
        "" => format!("api/{}", kind.version),
        group => format!("apis/{group}/{}", kind.version),
    }
}

/// The kind as descriptions refer to it.
fn kind_reference(kind: &Kind) -> Value {
    json!({ "group": kind.group, "kind": kind.kind, "version": kind.version })
}

#[cfg(test)]
mod tests;
