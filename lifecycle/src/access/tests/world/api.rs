//! Accesses at the API server.

use std::sync::Arc;

use cosi_api::BucketAccessAuthenticationType::{Key, ServiceAccount};
use cosi_api::{BucketAccessMode, ObjectProtocol};

use super::{BUCKETS, NAME, NAMESPACE, SECRETS};
use crate::WriteFailure;
use crate::access::{AccessView, Accessed, Place, StatusWrite, Wish};
use crate::testing::{Api, invalid};

/// How much of the status the controller has filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    Nothing,
    Part,
    All,
}

/// How a BucketAccess comes into being.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    /// How many claims are named.
    pub(crate) claims: usize,
    /// They name one Secret.
    pub(crate) one_secret: bool,
    pub(crate) service_account: bool,
    pub(crate) filled: Filled,
}

impl Spec {
    pub(crate) const TWO: Self =
        Self { claims: 2, one_secret: false, service_account: false, filled: Filled::All };
    pub(crate) const ONE: Self = Self { claims: 1, ..Self::TWO };
    pub(crate) const BARE: Self = Self { filled: Filled::Nothing, ..Self::TWO };
    pub(crate) const SERVICE: Self = Self { service_account: true, ..Self::TWO };
    pub(crate) const SHARED: Self = Self { one_secret: true, ..Self::TWO };

    fn view(self, n: u32, version: u64) -> AccessView {
        let wish = |i: usize| Wish {
            claim: format!("claim-{i}").into(),
            mode: if i == 0 { BucketAccessMode::ReadWrite } else { BucketAccessMode::ReadOnly },
            secret: SECRETS[if self.one_secret { 0 } else { i }].into(),
        };
        let mut view = AccessView {
            uid: format!("uid-{n}").into(),
            place: Place { namespace: NAMESPACE.into(), name: NAME.into() },
            resource_version: version.to_string().into(),
            deleting: false,
            finalizer: true,
            other_finalizers: [].into(),
            let_go: false,
            handed_back: false,
            cleanup_finished: false,
            protocol: ObjectProtocol::S3,
            wishes: (0..self.claims).map(wish).collect(),
            service_account: self.service_account.then(|| "app".into()),
            ready: false,
            account_id: None,
            driver: None,
            authentication: None,
            parameters: None,
            accessed: [].into(),
        };
        fill(&mut view, self.filled);
        view
    }
}

/// The driver's id of a Bucket.
pub(super) fn bucket_id(bucket: &str) -> String {
    format!("id-of-{bucket}")
}

/// The controller hands over.
pub(super) fn fill(view: &mut AccessView, filled: Filled) {
    if filled == Filled::Nothing {
        return;
    }
    view.driver = Some("driver.example.com".into());
    if filled == Filled::Part {
        return;
    }
    view.authentication = Some(if view.service_account.is_some() { ServiceAccount } else { Key });
    view.parameters = Some(Arc::new([("tier".to_owned(), "fast".to_owned())].into()));
    let accessed = |(wish, bucket): (&Wish, &&str)| Accessed {
        claim: wish.claim.clone(),
        bucket: (*bucket).into(),
        id: bucket_id(bucket).into(),
    };
    view.accessed = view.wishes.iter().zip(&BUCKETS).map(accessed).collect();
}

impl Api<AccessView> {
    pub(super) fn create(&mut self, spec: Spec) {
        self.put(|n, version| spec.view(n, version));
    }

    pub(super) fn write_status(
        &mut self,
        version: Option<&str>,
        status: &StatusWrite,
    ) -> Result<Arc<AccessView>, WriteFailure> {
        let object = self.conditions(version)?;
        if let (StatusWrite::Ready(id), Some(recorded)) = (status, &object.view.account_id)
            && id.as_str() != recorded.as_ref()
        {
            return Err(invalid("status.accountID is immutable"));
        }
        let written = self.change(|o| match status {
            StatusWrite::Ready(id) => {
                o.view.ready = true;
                o.view.account_id = Some(id.as_str().into());
                o.error = None;
            }
            StatusWrite::NotReady => o.view.ready = false,
            StatusWrite::Error { text } => o.error = Some(text.clone()),
        });
        written.ok_or(WriteFailure::NotFound)
    }
}
