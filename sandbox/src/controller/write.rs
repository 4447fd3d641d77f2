//! Writes that change nothing if there is nothing to change.

use std::fmt::Debug;

use cosi_api::TimestampedError;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An error for a status; the one that is there already if it says the same.
pub(super) fn error(message: String, known: Option<&TimestampedError>) -> TimestampedError {
    match known {
        Some(known) if known.message.as_deref() == Some(&message) => known.clone(),
        _ => TimestampedError { time: Some(Time(Timestamp::now())), message: Some(message) },
    }
}

/// Changes fields of the object's status from `old` to `new`.
pub(super) async fn status<K, S>(
    api: &Api<K>,
    name: &str,
    old: Option<&S>,
    new: &S,
) -> Result<(), kube::Error>
where
    K: Clone + DeserializeOwned + Debug,
    S: Serialize + PartialEq,
{
    if old == Some(new) {
        return Ok(());
    }
    let mut fields = serde_json::to_value(new).map_err(kube::Error::SerdeError)?;
    // What went has to be said in a merge patch.
    if let Some(fields) = fields.as_object_mut() {
        fields.entry("error").or_insert(Value::Null);
    }
    let patch = json!({ "status": fields });
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch)).await.map(drop)
}

/// Sets an annotation, or takes it off.
pub(super) async fn annotation<K>(api: &Api<K>, name: &str, key: &str, set: bool) -> Result<(), kube::Error>
where
    K: Clone + DeserializeOwned + Debug,
{
    let value = if set { json!("") } else { Value::Null };
    let patch = json!({ "metadata": { "annotations": { key: value } } });
    api.patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await.map(drop)
}
