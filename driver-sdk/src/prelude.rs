//! What nearly every driver needs: `use cosi_driver_sdk::prelude::*;`.

pub use crate::{
    AccessMode, AccessedBucket, AccountId, AccountName, AddressingStyle, Authentication, Bucket, BucketId,
    BucketInfo, BucketName, CallContext, CreateBucketRequest, Credentials, DeleteBucketByNameRequest,
    DeleteBucketRequest, Driver, DriverError, DriverInfo, Endpoint, Fingerprint, GetExistingBucketRequest,
    GrantAccessRequest, GrantedAccess, OwnerMark, Parameters, Protocol, RevokeAccessByNameRequest,
    RevokeAccessRequest, S3BucketInfo, S3Credentials, Secret, Server, async_trait,
};
