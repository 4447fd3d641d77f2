//! Which gRPC code an error of the store becomes, and with it whether the sidecar tries again.

use cosi_driver_sdk::DriverError;

use crate::{
    chain::chain,
    store::{CreateError, DeleteError, GrantError, StoreError},
};

impl From<CreateError> for DriverError {
    fn from(error: CreateError) -> Self {
        match error {
            // Only another name or another backend would help.
            CreateError::NotABucketName(_) => Self::invalid_argument(error.to_string()),
            CreateError::Foreign(_) | CreateError::OtherRequest(_) => Self::already_exists(error.to_string()),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl From<DeleteError> for DriverError {
    fn from(error: DeleteError) -> Self {
        match error {
            // Nothing was done, and it works once somebody has emptied the bucket.
            DeleteError::HasObjects(_) | DeleteError::HasUploads(_) | DeleteError::InUse(_) => {
                Self::failed_precondition(error.to_string())
            }
            DeleteError::Store(error) => error.into(),
        }
    }
}

impl From<GrantError> for DriverError {
    fn from(error: GrantError) -> Self {
        match error {
            GrantError::OtherRequest(_) => Self::already_exists(error.to_string()),
            // Nothing was done, and it works once the bucket is there.
            GrantError::NoBucket(_) => Self::failed_precondition(error.to_string()),
            GrantError::Store(error) => error.into(),
        }
    }
}

/// The disk failed half-way perhaps: the outcome is unknown, and the repeated call goes on from there.
impl From<StoreError> for DriverError {
    fn from(error: StoreError) -> Self {
        Self::internal(chain(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use cosi_driver_sdk::ErrorKind;

    use super::*;
    use crate::store::BucketId;

    #[test]
    fn each_reason_to_refuse_has_the_code_that_the_protocol_gives_it() {
        let id: BucketId = "bc-1".parse().unwrap();
        let no_name = "x".repeat(64).parse::<BucketId>().unwrap_err();
        assert_eq!(
            DriverError::from(CreateError::NotABucketName(no_name)).kind(),
            ErrorKind::InvalidArgument
        );
        assert_eq!(DriverError::from(CreateError::Foreign(id.clone())).kind(), ErrorKind::AlreadyExists);
        assert_eq!(DriverError::from(CreateError::OtherRequest(id.clone())).kind(), ErrorKind::AlreadyExists);
        assert_eq!(
            DriverError::from(DeleteError::HasObjects(id.clone())).kind(),
            ErrorKind::FailedPrecondition
        );
        assert_eq!(
            DriverError::from(DeleteError::HasUploads(id.clone())).kind(),
            ErrorKind::FailedPrecondition
        );
        assert_eq!(DriverError::from(DeleteError::InUse(id.clone())).kind(), ErrorKind::FailedPrecondition);
        assert_eq!(DriverError::from(GrantError::NoBucket(id)).kind(), ErrorKind::FailedPrecondition);
        assert_eq!(
            DriverError::from(GrantError::OtherRequest("ba-1".into())).kind(),
            ErrorKind::AlreadyExists
        );
    }

    #[test]
    fn a_failing_disk_is_internal_and_says_what_failed_and_why() {
        let error = DriverError::from(StoreError::List(io::Error::other("disk on fire")));
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert_eq!(error.message(), "can't list buckets: disk on fire");
    }
}
