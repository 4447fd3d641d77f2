//! Reads and writes of the Secrets of accesses. They are read one by one and never listed or watched: a sidecar has no
//! business with the other Secrets of a cluster, and needs no right to see them.

mod exchange;
mod keys;
mod stored;

use cosi_api::BucketAccess;
use cosi_api::names::FINALIZER;
use cosi_lifecycle::WriteFailure;
use cosi_lifecycle::access::{Owner, Place, SecretData, SecretView, Version};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, GetParams, Patch, Preconditions};
use kube::core::Request;
use kube::{Client, Resource as _};
use serde_json::{Map, Value, json};

use self::exchange::{Text, exchange, unsendable};
use self::stored::Stored;
use super::objects::{creation, parameters};
use crate::settings::SecretKeys;

/// The Secrets of accesses, in whatever namespace.
#[derive(Clone)]
pub struct Secrets {
    client: Client,
    keys: SecretKeys,
}

impl Secrets {
    /// Secrets whose S3 values have the names that `keys` says.
    #[must_use]
    pub const fn new(client: Client, keys: SecretKeys) -> Self {
        Self { client, keys }
    }

    /// A live read. `None`: there is no such Secret.
    ///
    /// # Errors
    ///
    /// The API server's refusal, or that the Secret cannot be decoded.
    pub async fn read(&self, place: &Place) -> Result<Option<SecretView>, WriteFailure> {
        let request = requests(place).get(&place.name, &GetParams::default()).map_err(unsendable)?;
        found(self.send(place, request, Text::Whole).await)
    }

    /// Creates a Secret that belongs to an access.
    ///
    /// # Errors
    ///
    /// The API server's refusal; a conflict if there is a Secret of that name.
    pub async fn create(
        &self,
        place: &Place,
        owner: &Owner,
        data: &SecretData,
    ) -> Result<Option<SecretView>, WriteFailure> {
        // No answer to an empty Secret can repeat what is in it.
        let text = if data.is_empty() { Text::Whole } else { Text::Withheld };
        let body = new_secret(place, owner, &self.keys.written(data)).to_string().into_bytes();
        let request = requests(place).create(&creation(), body).map_err(unsendable)?;
        self.send(place, request, text).await
    }

    /// Writes values into a Secret, if it is still the one that was read. What else is in it stays.
    ///
    /// # Errors
    ///
    /// The API server's refusal, without its text.
    pub async fn write(
        &self,
        secret: &Version,
        data: &SecretData,
    ) -> Result<Option<SecretView>, WriteFailure> {
        let mut values = self.keys.written(data);
        values.extend(self.keys.other_names(data).map(|name| (name.to_owned(), Value::Null)));
        let Version { uid, resource_version, .. } = secret;
        let condition = json!({ "uid": &**uid, "resourceVersion": resource_version });
        self.merge(&secret.place, &json!({ "metadata": condition, "data": values })).await
    }

    /// Replaces a Secret's finalizers, if it is still the one that was read. `None`: it went away with the last of them.
    ///
    /// # Errors
    ///
    /// The API server's refusal, without its text.
    pub async fn write_finalizers(
        &self,
        secret: &Version,
        finalizers: &[String],
    ) -> Result<Option<SecretView>, WriteFailure> {
        let Version { uid, resource_version, .. } = secret;
        let metadata =
            json!({ "uid": &**uid, "resourceVersion": resource_version, "finalizers": finalizers });
        self.merge(&secret.place, &json!({ "metadata": metadata })).await
    }

    /// Deletes a Secret, if it is still the one that was read. `None`: there is none any more; otherwise, finalizers hold
    /// it.
    ///
    /// # Errors
    ///
    /// The API server's refusal, without its text.
    pub async fn delete(&self, secret: &Version) -> Result<Option<SecretView>, WriteFailure> {
        let Version { place, uid, resource_version } = secret;
        let options = DeleteParams::default().preconditions(Preconditions {
            uid: Some(uid.to_string()),
            resource_version: Some(resource_version.to_string()),
        });
        let request = requests(place).delete(&place.name, &options).map_err(unsendable)?;
        found(self.send(place, request, Text::Withheld).await)
    }

    async fn merge(&self, place: &Place, patch: &Value) -> Result<Option<SecretView>, WriteFailure> {
        let request = requests(place).patch(&place.name, &parameters(), &Patch::Merge(patch));
        self.send(place, request.map_err(unsendable)?, Text::Withheld).await
    }

    async fn send(
        &self,
        place: &Place,
        request: http::Request<Vec<u8>>,
        text: Text,
    ) -> Result<Option<SecretView>, WriteFailure> {
        let stored: Stored = exchange(&self.client, &place.name, request, text).await?;
        Ok(stored.view(self.keys))
    }
}

fn requests(place: &Place) -> Request {
    Request::new(Secret::url_path(&(), Some(&place.namespace)))
}

/// A Secret that is not there any more is an answer, too.
fn found(result: Result<Option<SecretView>, WriteFailure>) -> Result<Option<SecretView>, WriteFailure> {
    match result {
        Err(WriteFailure::NotFound) => Ok(None),
        other => other,
    }
}

fn new_secret(place: &Place, owner: &Owner, data: &Map<String, Value>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {
            "namespace": &*place.namespace,
            "name": &*place.name,
            "finalizers": [FINALIZER],
            "ownerReferences": [{
                "apiVersion": BucketAccess::api_version(&()),
                "kind": BucketAccess::kind(&()),
                "name": &*owner.name,
                "uid": &*owner.uid,
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "data": data,
    })
}

#[cfg(test)]
mod tests;
