//! Accounts: requests, and making them so that they will be gone.

use cosi_proto::v1alpha2 as wire;
use wire::access_mode::Mode as WireMode;
use wire::driver_grant_bucket_access_request::AccessedBucket;

use super::buckets::unprepared;
use super::{Bench, Bucket, Tried, wire_protocol};
use crate::driver::rpc::{Grant, Granted, Revoke, RevokeByName};
use crate::driver::{Answer, How};
use crate::settings::Authentication;

/// Access modes.
pub(crate) type Mode = WireMode;

/// An account, and what it was made by.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) granted: Granted,
    pub(crate) request: Grant,
}

impl Account {
    pub(crate) fn id(&self) -> &str {
        &self.granted.account_id
    }
}

pub(crate) fn revoke_request(id: &str, request: &Grant) -> Revoke {
    let bucket = |bucket: &AccessedBucket| wire::driver_revoke_bucket_access_request::AccessedBucket {
        bucket_id: bucket.bucket_id.clone(),
    };
    Revoke {
        account_id: id.to_owned(),
        protocol: request.protocol,
        authentication_type: request.authentication_type,
        service_account_name: request.service_account_name.clone(),
        parameters: request.parameters.clone(),
        buckets: request.buckets.iter().map(bucket).collect(),
    }
}

pub(crate) fn undo(request: &Grant) -> RevokeByName {
    let bucket =
        |bucket: &AccessedBucket| wire::driver_revoke_bucket_access_by_name_request::AccessedBucket {
            bucket_id: bucket.bucket_id.clone(),
        };
    RevokeByName {
        account_name: request.account_name.clone(),
        protocol: request.protocol,
        authentication_type: request.authentication_type,
        service_account_name: request.service_account_name.clone(),
        parameters: request.parameters.clone(),
        buckets: request.buckets.iter().map(bucket).collect(),
    }
}

pub(crate) fn accessed(id: &str, mode: impl Into<i32>) -> AccessedBucket {
    AccessedBucket { bucket_id: id.to_owned(), access_mode: Some(wire::AccessMode { mode: mode.into() }) }
}

impl Bench {
    /// A request for an account with a new name on these buckets, in the authentication type of the settings.
    pub(crate) fn grant_request(&self, buckets: &[(&Bucket, Mode)]) -> Grant {
        let mut request = Grant {
            account_name: self.name(),
            protocol: Some(wire_protocol(self.shared.protocol())),
            parameters: self.settings().access_parameters(),
            buckets: buckets.iter().map(|(bucket, mode)| accessed(&bucket.id, *mode)).collect(),
            ..Grant::default()
        };
        self.authenticate(&mut request, self.settings().authentication);
        request
    }

    pub(crate) fn authenticate(&self, request: &mut Grant, authentication: Authentication) {
        request.authentication_type =
            Some(wire::AuthenticationType { r#type: authentication.to_wire().into() });
        request.service_account_name = match authentication {
            Authentication::Key => String::new(),
            Authentication::ServiceAccount => self.settings().service_account.clone(),
        };
    }

    /// Whatever this makes will be gone when the check is over.
    pub(crate) async fn grant(&self, request: &Grant) -> Answer<Grant> {
        self.grant_so(request, How::default()).await
    }

    pub(crate) async fn grant_so(&self, request: &Grant, how: How) -> Answer<Grant> {
        self.made.account_asked(request);
        let answer = self.driver().ask_so(request.clone(), how).await;
        self.made.account_answered(request, &answer);
        answer
    }

    /// A new account to try something with.
    pub(crate) async fn account(&self, bucket: &Bucket, mode: Mode) -> Tried<Account> {
        let request = self.grant_request(&[(bucket, mode)]);
        let granted = self.grant(&request).await.map_err(unprepared)?;
        Ok(Account { granted, request })
    }

    pub(crate) async fn revoke(&self, account: &Account) -> Answer<Revoke> {
        let answer = self.ask(revoke_request(account.id(), &account.request)).await;
        if answer.is_ok() {
            self.made.account_gone(&account.request, account.id());
        }
        answer
    }

    /// Revokes by name until the driver is not busy with that name any more.
    pub(crate) async fn revoke_by_name(&self, request: &Grant) -> Answer<RevokeByName> {
        let answer = self.patiently(|| self.ask(undo(request))).await;
        if answer.is_ok() {
            self.made.account_undone(request);
        }
        answer
    }
}
