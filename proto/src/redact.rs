//! `Debug` for the messages that may hold secrets (I7, COSI-SECRET-1 and -2): the generated types come without it.
//!
//! Values of `parameters` are left out too. They come from a class that many may read, yet people put keys there,
//! and a request is what gets logged when something goes wrong.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};

use crate::v1alpha2::{
    AzureCredentialInfo, CredentialInfo, DriverCreateBucketRequest, DriverDeleteBucketByNameRequest,
    DriverDeleteBucketRequest, DriverGetExistingBucketRequest, DriverGrantBucketAccessRequest,
    DriverGrantBucketAccessResponse, DriverRevokeBucketAccessByNameRequest, DriverRevokeBucketAccessRequest,
    GcsCredentialInfo, S3CredentialInfo, driver_grant_bucket_access_request,
    driver_grant_bucket_access_response, driver_revoke_bucket_access_by_name_request,
    driver_revoke_bucket_access_request,
};

/// Shows whether something is there, not what.
struct Hidden<'a>(&'a str);

impl Debug for Hidden<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "(empty)" } else { "(hidden)" })
    }
}

/// Shows the keys of a map, not its values.
struct Keys<'a>(&'a BTreeMap<String, String>);

impl Debug for Keys<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// `Type { shown fields; fields behind a wrapper }`.
macro_rules! debug_as {
    ($($type:path as $name:literal { $($shown:ident),*; $($wrapped:ident: $wrapper:ident),* })*) => {$(
        impl Debug for $type {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.debug_struct($name)
                    $(.field(stringify!($shown), &self.$shown))*
                    $(.field(stringify!($wrapped), &$wrapper(&self.$wrapped)))*
                    .finish()
            }
        }
    )*};
}

debug_as! {
    CredentialInfo as "CredentialInfo" { s3, azure, gcs; }
    S3CredentialInfo as "S3CredentialInfo" { ; access_key_id: Hidden, access_secret_key: Hidden }
    AzureCredentialInfo as "AzureCredentialInfo" { ; access_token: Hidden, expiry_timestamp: Hidden }
    GcsCredentialInfo as "GcsCredentialInfo" {
        ; access_id: Hidden, access_secret: Hidden, private_key_name: Hidden, service_account: Hidden
    }
    DriverCreateBucketRequest as "DriverCreateBucketRequest" { name, protocols; parameters: Keys }
    DriverGetExistingBucketRequest as "DriverGetExistingBucketRequest" {
        existing_bucket_id, protocols; parameters: Keys
    }
    DriverDeleteBucketRequest as "DriverDeleteBucketRequest" { bucket_id; parameters: Keys }
    DriverDeleteBucketByNameRequest as "DriverDeleteBucketByNameRequest" { name, protocols; parameters: Keys }
    DriverGrantBucketAccessRequest as "DriverGrantBucketAccessRequest" {
        account_name, protocol, authentication_type, service_account_name, buckets; parameters: Keys
    }
    DriverRevokeBucketAccessRequest as "DriverRevokeBucketAccessRequest" {
        account_id, protocol, authentication_type, service_account_name, buckets; parameters: Keys
    }
    DriverRevokeBucketAccessByNameRequest as "DriverRevokeBucketAccessByNameRequest" {
        account_name, protocol, authentication_type, service_account_name, buckets; parameters: Keys
    }
    DriverGrantBucketAccessResponse as "DriverGrantBucketAccessResponse" { account_id, buckets, credentials; }
    driver_grant_bucket_access_request::AccessedBucket as "AccessedBucket" { bucket_id, access_mode; }
    driver_revoke_bucket_access_request::AccessedBucket as "AccessedBucket" { bucket_id; }
    driver_revoke_bucket_access_by_name_request::AccessedBucket as "AccessedBucket" { bucket_id; }
    driver_grant_bucket_access_response::BucketInfo as "BucketInfo" { bucket_id, bucket_info; }
}
