//! What a Secret must hold to be of use.

use cosi_api::BucketAccessAuthenticationType::{self, Key, ServiceAccount};
use cosi_api::ObjectProtocol;
use cosi_api::keys::{azure, gcs, s3};

/// The keys without which an application gets nowhere, and so must have a value in every Secret. `COSI_PROTOCOL` is not
/// among them: it is written, but other sidecars leave it out, and nobody's credentials are renewed for that.
pub(super) const fn required_keys(
    protocol: ObjectProtocol,
    authentication: BucketAccessAuthenticationType,
) -> &'static [&'static str] {
    match (protocol, authentication) {
        (ObjectProtocol::S3, Key) => &[
            s3::BUCKET_ID,
            s3::ENDPOINT,
            s3::REGION,
            s3::ADDRESSING_STYLE,
            s3::ACCESS_KEY_ID,
            s3::ACCESS_SECRET_KEY,
        ],
        (ObjectProtocol::S3, ServiceAccount) => {
            &[s3::BUCKET_ID, s3::ENDPOINT, s3::REGION, s3::ADDRESSING_STYLE]
        }
        (ObjectProtocol::Azure, Key) => &[azure::STORAGE_ACCOUNT, azure::ACCESS_TOKEN],
        (ObjectProtocol::Azure, ServiceAccount) => &[azure::STORAGE_ACCOUNT],
        (ObjectProtocol::Gcs, Key) => {
            &[gcs::PROJECT_ID, gcs::BUCKET_NAME, gcs::ACCESS_ID, gcs::ACCESS_SECRET]
        }
        (ObjectProtocol::Gcs, ServiceAccount) => {
            &[gcs::PROJECT_ID, gcs::BUCKET_NAME, gcs::PRIVATE_KEY_NAME, gcs::SERVICE_ACCOUNT]
        }
    }
}
