//! What the driver understands of a request.

use std::collections::BTreeSet;

use cosi_driver_sdk::{
    Authentication, BucketName, CreateBucketRequest, DriverError, GetExistingBucketRequest,
    GrantAccessRequest, Protocol,
};

use crate::store;

/// Characters in the name of an IAM user.
const LONGEST_USER: usize = 64;

/// # Errors
/// `INVALID_ARGUMENT` that names what isn't supported.
pub(super) fn check_create(request: &CreateBucketRequest) -> Result<(), DriverError> {
    check_protocols(&request.protocols)?;
    request.parameters.only(&[])?;
    check_bucket(request.name.as_str())
}

/// # Errors
/// `INVALID_ARGUMENT` that names what isn't supported.
pub(super) fn check_existing(request: &GetExistingBucketRequest) -> Result<(), DriverError> {
    check_protocols(&request.protocols)?;
    request.parameters.only(&[])
}

/// # Errors
/// `INVALID_ARGUMENT` that names what isn't supported.
pub(super) fn check_grant(request: &GrantAccessRequest) -> Result<(), DriverError> {
    check_protocols(&[request.protocol].into())?;
    if let Authentication::ServiceAccount { .. } = request.authentication {
        return Err(DriverError::invalid_argument(
            "authentication type ServiceAccount isn't supported: this driver makes IAM users with a key, and the service is not \
             told which Kubernetes service accounts to trust; use a BucketAccessClass with authenticationType Key",
        ));
    }
    request.parameters.only(&[])?;
    request.buckets.iter().try_for_each(|bucket| check_bucket(bucket.bucket_id.as_str()))?;
    if !is_user(request.account_name.as_str()) {
        return Err(DriverError::invalid_argument(format!(
            "{} is longer than the {LONGEST_USER} characters that the name of an IAM user may have",
            request.account_name
        )));
    }
    Ok(())
}

/// Whether a bucket can have this name or id. What none can have needs no asking.
pub(super) fn is_bucket(id: &str) -> bool {
    check_bucket(id).is_ok()
}

/// Whether a user of this driver can have this name or id.
pub(super) fn is_user(id: &str) -> bool {
    id.len() <= LONGEST_USER && BucketName::new(id).is_ok()
}

fn check_bucket(name: &str) -> Result<(), DriverError> {
    let name: Result<store::BucketId, _> = name.parse();
    name.map(drop).map_err(|error| DriverError::invalid_argument(error.to_string()))
}

fn check_protocols(protocols: &BTreeSet<Protocol>) -> Result<(), DriverError> {
    match protocols.iter().find(|protocol| **protocol != Protocol::S3) {
        Some(other) => Err(DriverError::invalid_argument(format!("protocol {other} isn't supported; S3 is"))),
        None => Ok(()),
    }
}
