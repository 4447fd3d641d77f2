//! Keys of `Bucket.status.bucketInfo` and of the Secrets that applications read.

/// Which protocol the Secret is for: `S3`, `Azure` or `GCS`. In every Secret.
pub const PROTOCOL: &str = "COSI_PROTOCOL";
/// A PEM bundle to trust when talking to the endpoint. Optional.
pub const CERTIFICATE_AUTHORITY: &str = "COSI_CERTIFICATE_AUTHORITY";

/// S3, as COSI names the fields.
pub mod s3 {
    /// The bucket's name in S3 requests.
    pub const BUCKET_ID: &str = "COSI_S3_BUCKET_ID";
    /// The URL of the S3 service.
    pub const ENDPOINT: &str = "COSI_S3_ENDPOINT";
    /// The region to sign requests for.
    pub const REGION: &str = "COSI_S3_REGION";
    /// How the bucket is addressed: `path` or `virtual`.
    pub const ADDRESSING_STYLE: &str = "COSI_S3_ADDRESSING_STYLE";
    /// The public half of the key pair.
    pub const ACCESS_KEY_ID: &str = "COSI_S3_ACCESS_KEY_ID";
    /// The secret half of the key pair.
    pub const ACCESS_SECRET_KEY: &str = "COSI_S3_ACCESS_SECRET_KEY";
}

/// S3 again, under the names that AWS tools and SDKs read as they are.
pub mod aws {
    /// As [`super::s3::BUCKET_ID`].
    pub const BUCKET_NAME: &str = "BUCKET_NAME";
    /// As [`super::s3::ENDPOINT`].
    pub const ENDPOINT_URL: &str = "AWS_ENDPOINT_URL";
    /// As [`super::s3::REGION`].
    pub const DEFAULT_REGION: &str = "AWS_DEFAULT_REGION";
    /// As [`super::s3::ADDRESSING_STYLE`].
    pub const S3_ADDRESSING_STYLE: &str = "AWS_S3_ADDRESSING_STYLE";
    /// As [`super::s3::ACCESS_KEY_ID`].
    pub const ACCESS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";
    /// As [`super::s3::ACCESS_SECRET_KEY`].
    pub const SECRET_ACCESS_KEY: &str = "AWS_SECRET_ACCESS_KEY";
}

/// Azure Blob Storage.
pub mod azure {
    /// The storage account that stands for the bucket.
    pub const STORAGE_ACCOUNT: &str = "COSI_AZURE_STORAGE_ACCOUNT";
    /// The token that grants access.
    pub const ACCESS_TOKEN: &str = "COSI_AZURE_ACCESS_TOKEN";
    /// When the token ends to be valid.
    pub const EXPIRY_TIMESTAMP: &str = "COSI_AZURE_EXPIRY_TIMESTAMP";
}

/// Google Cloud Storage.
pub mod gcs {
    /// The project that owns the bucket.
    pub const PROJECT_ID: &str = "COSI_GCS_PROJECT_ID";
    /// The bucket's name.
    pub const BUCKET_NAME: &str = "COSI_GCS_BUCKET_NAME";
    /// The public half of the HMAC key.
    pub const ACCESS_ID: &str = "COSI_GCS_ACCESS_ID";
    /// The secret half of the HMAC key.
    pub const ACCESS_SECRET: &str = "COSI_GCS_ACCESS_SECRET";
    /// The name of the service account's private key.
    pub const PRIVATE_KEY_NAME: &str = "COSI_GCS_PRIVATE_KEY_NAME";
    /// The service account to act as.
    pub const SERVICE_ACCOUNT: &str = "COSI_GCS_SERVICE_ACCOUNT";
}
