//! A Secret as it comes from the API server: which keys have a value, never which.

use std::collections::BTreeMap;
use std::fmt;

use cosi_api::BucketAccess;
use cosi_api::names::GROUP;
use cosi_lifecycle::access::{Owner, SecretView};
use cosi_lifecycle::split_finalizers;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource as _;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::settings::SecretKeys;

/// What is read of a Secret, or of the Status that tells that it is deleted.
#[derive(serde::Deserialize)]
pub(super) struct Stored {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    data: Option<BTreeMap<String, Filled>>,
}

/// Whether a value is there. The value itself is read over.
struct Filled(bool);

impl Stored {
    /// The Secret; `None` if it is gone with this very answer: no Secret was returned, or one that is deleting and not held.
    pub(super) fn view(self, keys: SecretKeys) -> Option<SecretView> {
        let Self { metadata: meta, data } = self;
        let filled = data.unwrap_or_default().into_iter().filter(|(_, value)| value.0).map(|(key, _)| key);
        let (finalizer, other_finalizers) = split_finalizers(meta.finalizers.as_deref());
        let view = SecretView {
            uid: meta.uid?.into(),
            resource_version: meta.resource_version?.into(),
            deleting: meta.deletion_timestamp.is_some(),
            finalizer,
            other_finalizers,
            owner: meta.owner_references.iter().flatten().find_map(owner),
            owned: meta.owner_references.is_some_and(|references| !references.is_empty()),
            keys: keys.read(&filled.collect()),
        };
        (!view.is_gone()).then_some(view)
    }
}

/// The owner that controls the Secret, if it is a BucketAccess of whatever version.
fn owner(reference: &OwnerReference) -> Option<Owner> {
    let group = reference.api_version.split_once('/').map(|(group, _)| group);
    let is_access = group == Some(GROUP) && reference.kind == BucketAccess::kind(&());
    (is_access && reference.controller == Some(true))
        .then(|| Owner { name: reference.name.as_str().into(), uid: reference.uid.as_str().into() })
}

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Length)
    }
}

struct Length;

impl Visitor<'_> for Length {
    type Value = Filled;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value in base64")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Filled, E> {
        Ok(Filled(!value.is_empty()))
    }
}
