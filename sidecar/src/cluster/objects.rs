//! What reads and writes of Buckets and BucketAccesses have in common.

use std::fmt;
use std::future::Future;

use cosi_lifecycle::{Kind, WriteFailure};
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::field::{DisplayValue, display};

use super::failure::{ANSWER_WITHIN, classify, says_gone, too_late};
use super::{Indexed, Key};
use crate::environment::Environment;

/// An object as it came from the API server.
#[derive(Debug)]
pub enum Sight<V> {
    /// Our driver's.
    Ours(V),
    /// Another driver's; not to be touched (C9).
    Foreign,
    /// It cannot be decoded, so nothing is done about it (R17).
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// The objects of one kind that are one driver's.
pub trait Objects {
    /// What is kept of one.
    type View: Indexed;

    /// The kind.
    const KIND: Kind;

    /// The kind's plural.
    const PLURAL: &'static str;

    /// The rights that the sidecar needs, for a person to whom RBAC says no.
    const RIGHTS: &'static str;

    /// The untyped API of the whole cluster: one object that cannot be decoded must not keep the others from being seen.
    fn api(&self) -> Api<DynamicObject>;

    /// The key of an object.
    fn key(object: &DynamicObject) -> Key;

    /// Looks at an object. Its driver is looked at first, so that another driver's malformed object is none of our business.
    fn look(&self, object: DynamicObject) -> Sight<Self::View>;

    /// What a live read or an own write returned; `None` if it is not our driver's.
    ///
    /// # Errors
    ///
    /// The object cannot be decoded.
    fn view(&self, object: DynamicObject) -> Result<Option<Self::View>, WriteFailure> {
        match self.look(object) {
            Sight::Ours(view) => Ok(Some(view)),
            Sight::Foreign => Ok(None),
            Sight::Unreadable { reason } => Err(undecodable(Self::KIND, &reason)),
        }
    }
}

/// An object's name in the log: its field is that of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    kind: Kind,
    name: Key,
}

impl Label {
    /// An object that is in a namespace, or in none.
    #[must_use]
    pub fn new(kind: Kind, namespace: Option<&str>, name: &Key) -> Self {
        let name =
            namespace.map_or_else(|| Key::clone(name), |namespace| format!("{namespace}/{name}").into());
        Self { kind, name }
    }

    /// The name, if it is a Bucket's.
    #[must_use]
    pub fn bucket(&self) -> Option<DisplayValue<&str>> {
        (self.kind == Kind::Bucket).then(|| display(&*self.name))
    }

    /// The name, if it is a BucketAccess's.
    #[must_use]
    pub fn access(&self) -> Option<DisplayValue<&str>> {
        (self.kind == Kind::BucketAccess).then(|| display(&*self.name))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.kind, self.name)
    }
}

pub(super) fn undecodable(kind: Kind, reason: &str) -> WriteFailure {
    WriteFailure::Other { message: format!("the {kind:?} cannot be decoded: {reason}"), retry_after: None }
}

/// A creation of our own.
pub(crate) fn creation() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() }
}

/// A write of our own.
pub(crate) fn parameters() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}

/// Who writes, for `metadata.managedFields`.
const FIELD_MANAGER: &str = "cosi-sidecar";

/// The answer, or what its absence means.
pub(super) async fn answered<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, WriteFailure> {
    timeout(ANSWER_WITHIN, request).await.map_err(too_late)?.map_err(|e| classify(&e))
}

/// A live read. `None`: the API server says of this very object that it does not exist.
pub(super) async fn get(api: &Api<DynamicObject>, name: &str) -> Result<Option<DynamicObject>, WriteFailure> {
    match timeout(ANSWER_WITHIN, api.get(name)).await.map_err(too_late)? {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if says_gone(&status, name) => Ok(None),
        Err(error) => Err(no_news(classify(&error))),
    }
}

/// A 404 that does not say that the object is gone.
pub(super) fn no_news(failure: WriteFailure) -> WriteFailure {
    match failure {
        WriteFailure::NotFound => WriteFailure::Other {
            message: "the API server does not know the kind of object (HTTP status 404)".to_owned(),
            retry_after: None,
        },
        other => other,
    }
}

/// Merges into an object.
pub(super) async fn merge(
    api: &Api<DynamicObject>,
    name: &str,
    patch: &Value,
) -> Result<DynamicObject, WriteFailure> {
    answered(api.patch(name, &parameters(), &Patch::Merge(patch))).await
}

/// Merges into a status, if the object is still the version that was read.
pub(super) async fn merge_status(
    api: &Api<DynamicObject>,
    name: &str,
    resource_version: &str,
    status: &Value,
) -> Result<DynamicObject, WriteFailure> {
    let patch = json!({ "metadata": { "resourceVersion": resource_version }, "status": status });
    answered(api.patch_status(name, &parameters(), &Patch::Merge(&patch))).await
}

/// The value of `status.error`.
pub(super) fn error(env: &dyn Environment, text: &str) -> Value {
    let time = env.wall().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({ "time": time, "message": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_logged_in_the_field_of_its_kind() {
        let bucket = Label::new(Kind::Bucket, None, &"b".into());
        assert_eq!(
            (bucket.bucket().map(|b| b.to_string()), bucket.access().is_some()),
            (Some("b".to_owned()), false)
        );
        let access = Label::new(Kind::BucketAccess, Some("n"), &"a".into());
        assert_eq!(
            (access.bucket().is_some(), access.access().map(|a| a.to_string())),
            (false, Some("n/a".to_owned()))
        );
        assert_eq!(access.to_string(), "BucketAccess n/a");
    }
}
