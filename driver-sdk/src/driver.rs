//! The trait that a driver implements.

use async_trait::async_trait;

use crate::context::CallContext;
use crate::error::DriverError;
use crate::model::answers::{Bucket, GrantedAccess};
use crate::model::ids::{AccountId, AccountName, BucketId, BucketName};
use crate::model::info::DriverInfo;
use crate::model::parameters::Parameters;
use crate::model::requests::{
    CreateBucketRequest, DeleteBucketByNameRequest, DeleteBucketRequest, GetExistingBucketRequest,
    GrantAccessRequest, RevokeAccessByNameRequest, RevokeAccessRequest,
};

/// A COSI driver: one method per RPC. `cosi.proto` holds the requirements on each.
///
/// Mandatory are [`info`](Self::info), [`create_bucket`](Self::create_bucket) and [`delete_bucket`](Self::delete_bucket).
/// What else a driver doesn't implement is answered UNIMPLEMENTED. A driver that grants must revoke. The two undo calls by
/// name are optional, but with them a sidecar can clean up without making anything first.
///
/// # Guarantees
/// What a method gets has been checked against the protocol's limits. While a method runs,
/// no other method is called
/// - for the same bucket name (create, delete by name), nor for the same bucket id (get existing, delete);
/// - to delete by id a bucket whose create is running, or the other way round, as far as the server can tell that name
///   and id belong together: from [`bucket_id_for`](Self::bucket_id_for), or because this process saw a create answer
///   that id. A create whose answer names an id that is being deleted is answered ABORTED;
/// - and likewise for accounts, with [`account_id_for`](Self::account_id_for).
///
/// Grants for different accounts run side by side even if they are for the same bucket: a driver that changes something at
/// the bucket for them (a policy, say) must keep them apart itself. Nothing is kept apart across two processes.
///
/// # Assumptions
/// Every method is idempotent (COSI-GEN-3). Deleting or revoking what is not there is a success. A method keeps nothing
/// in memory that the next call needs. When a method has returned, its work has ended.
///
/// # Cancellation
/// The future of a method is never dropped half-way, except when the process ends; see [`CallContext`].
///
/// # Errors
/// Each method may answer any [`ErrorKind`](crate::ErrorKind) that fits; many of them promise that nothing was done.
/// A panic fails the one call with INTERNAL.
#[async_trait]
pub trait Driver: Send + Sync + 'static {
    /// Who the driver is. Must not ask the backend, and must not change.
    fn info(&self) -> DriverInfo;

    /// The id that a create with this name and these parameters answers, if it follows from them alone. With it the
    /// server can keep a create and a delete by id apart. `None` (the default) if the backend chooses the id.
    fn bucket_id_for(&self, name: &BucketName, parameters: &Parameters) -> Option<BucketId> {
        let _ = (name, parameters);
        None
    }

    /// The id that a grant with this name and these parameters answers, if it follows from them alone; as
    /// [`bucket_id_for`](Self::bucket_id_for).
    fn account_id_for(&self, name: &AccountName, parameters: &Parameters) -> Option<AccountId> {
        let _ = (name, parameters);
        None
    }

    /// Makes a bucket, or finds the one that an earlier call with the same request made (COSI-CREATE-*).
    async fn create_bucket(
        &self,
        context: &CallContext,
        request: CreateBucketRequest,
    ) -> Result<Bucket, DriverError>;

    /// Deletes a bucket by its id; gone already is `Ok` (COSI-DELETE-*).
    async fn delete_bucket(
        &self,
        context: &CallContext,
        request: DeleteBucketRequest,
    ) -> Result<(), DriverError>;

    /// Describes a bucket that somebody made outside of COSI, and changes nothing (COSI-EXISTING-*).
    async fn get_existing_bucket(
        &self,
        context: &CallContext,
        request: GetExistingBucketRequest,
    ) -> Result<Bucket, DriverError> {
        let _ = (context, request);
        Err(unimplemented("use an existing bucket"))
    }

    /// Makes an account with the wanted rights, or finds the one that an earlier call with the same request made, and
    /// hands out working credentials (COSI-GRANT-*).
    async fn grant_access(
        &self,
        context: &CallContext,
        request: GrantAccessRequest,
    ) -> Result<GrantedAccess, DriverError> {
        let _ = (context, request);
        Err(unimplemented("grant access"))
    }

    /// Takes an account away by its id; gone already is `Ok` (COSI-REVOKE-*).
    async fn revoke_access(
        &self,
        context: &CallContext,
        request: RevokeAccessRequest,
    ) -> Result<(), DriverError> {
        let _ = (context, request);
        Err(unimplemented("revoke access"))
    }

    /// Undoes a create with the same fields, for a caller that doesn't know the id (COSI-DELNAME-*). Optional.
    async fn delete_bucket_by_name(
        &self,
        context: &CallContext,
        request: DeleteBucketByNameRequest,
    ) -> Result<(), DriverError> {
        let _ = (context, request);
        Err(unimplemented("delete a bucket by its name"))
    }

    /// Undoes a grant with the same fields, for a caller that doesn't know the id (COSI-REVNAME-*). Optional.
    async fn revoke_access_by_name(
        &self,
        context: &CallContext,
        request: RevokeAccessByNameRequest,
    ) -> Result<(), DriverError> {
        let _ = (context, request);
        Err(unimplemented("revoke access by the account's name"))
    }
}

fn unimplemented(what: &str) -> DriverError {
    DriverError::unimplemented(format!("this driver can't {what}"))
}
