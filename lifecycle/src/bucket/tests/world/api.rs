//! Buckets at the API server.

use std::sync::Arc;

use cosi_api::DeletionPolicy;

use crate::WriteFailure;
use crate::bucket::{BucketView, ClaimRef, StatusWrite};
use crate::testing::{Api, FOREIGN_FINALIZER, invalid};

/// How a Bucket comes into being.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) policy: DeletionPolicy,
    pub(crate) existing_id: Option<&'static str>,
    /// A claim is bound to it.
    pub(crate) bound: bool,
    /// Somebody copied our finalizer into the new object.
    pub(crate) with_finalizer: bool,
    pub(crate) held_by_others: bool,
}

impl Spec {
    pub(crate) const DYNAMIC: Self = Self {
        policy: DeletionPolicy::Delete,
        existing_id: None,
        bound: true,
        with_finalizer: false,
        held_by_others: false,
    };
    pub(crate) const STATIC: Self =
        Self { existing_id: Some(super::EXISTING), bound: false, ..Self::DYNAMIC };
    pub(crate) const RETAIN: Self = Self { policy: DeletionPolicy::Retain, ..Self::DYNAMIC };

    fn view(self, n: u32, version: u64) -> BucketView {
        let claim = ClaimRef {
            name: "claim".into(),
            namespace: "users".into(),
            uid: self.bound.then(|| format!("claim-{n}").into()),
        };
        BucketView {
            name: super::NAME.into(),
            driver: "driver.example.com".into(),
            uid: format!("uid-{n}").into(),
            resource_version: version.to_string().into(),
            deleting: false,
            finalizer: self.with_finalizer,
            other_finalizers: if self.held_by_others { [FOREIGN_FINALIZER.into()].into() } else { [].into() },
            claim_deleting: false,
            let_go: false,
            policy: self.policy,
            claim,
            protocols: [cosi_api::ObjectProtocol::S3].into(),
            parameters: Some(Arc::new([("tier".to_owned(), "fast".to_owned())].into())),
            existing_id: self.existing_id.map(Into::into),
            ready: None,
            bucket_id: None,
        }
    }
}

type Written = Result<Arc<BucketView>, WriteFailure>;

impl Api<BucketView> {
    pub(crate) fn create(&mut self, spec: Spec) {
        self.put(|n, version| spec.view(n, version));
    }

    pub(crate) fn write_status(&mut self, version: Option<&str>, status: &StatusWrite) -> Written {
        let object = self.conditions(version)?;
        if let (StatusWrite::Ready(answer), Some(id)) = (status, &object.view.bucket_id)
            && answer.id.as_str() != id.as_ref()
        {
            return Err(invalid("status.bucketID is immutable"));
        }
        let written = self.change(|o| match status {
            StatusWrite::Ready(answer) => {
                o.view.ready = Some(true);
                o.view.bucket_id = Some(answer.id.as_str().into());
                o.error = None;
            }
            StatusWrite::Error { text, first } => {
                o.error = Some(text.clone());
                if *first {
                    o.view.ready = Some(false);
                }
            }
        });
        written.ok_or(WriteFailure::NotFound)
    }
}
