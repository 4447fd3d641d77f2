//! What is really at the sample driver's object store: asked over S3, not taken from anybody's word.

use std::{fs, io, path::Path, path::PathBuf};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::{self, BehaviorVersion, Config, Credentials, Region};
use aws_sdk_s3::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};

/// The store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The key pair cannot be read.
    #[error("reading the object store's key pair from {path}")]
    Credentials {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file with the key pair lacks a half.
    #[error("no {0} in the object store's credentials file")]
    NoKey(&'static str),
    /// The store does not allow it: the key pair is not known, or may not do this.
    #[error("{what} is denied ({code})")]
    Denied {
        /// What was asked for.
        what: &'static str,
        /// The S3 error code.
        code: String,
    },
    /// The store refused, or did not answer.
    #[error("{what}: {why}")]
    Request {
        /// What was asked for.
        what: &'static str,
        /// The answer.
        why: String,
    },
}

/// The object store, seen by its operator or by an account.
#[derive(Debug, Clone)]
pub struct ObjectStore {
    client: Client,
}

impl ObjectStore {
    /// The S3 server at `endpoint`, with the key pair that the driver keeps in the file `credentials`.
    ///
    /// # Errors
    /// If the file cannot be read or lacks a key.
    pub fn open(endpoint: &str, credentials: &Path) -> Result<Self, StoreError> {
        let text = fs::read_to_string(credentials)
            .map_err(|source| StoreError::Credentials { path: credentials.to_owned(), source })?;
        let value = |name: &'static str| {
            let pairs = text.lines().filter_map(|line| line.split_once('='));
            let found = pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name);
            found.map(|(_, value)| value.to_owned()).ok_or(StoreError::NoKey(name))
        };
        let (id, secret) = (value("aws_access_key_id")?, value("aws_secret_access_key")?);
        Ok(Self::with_key(endpoint, "us-east-1", &id, &secret))
    }

    /// The S3 server at `endpoint`, with this key pair.
    #[must_use]
    pub fn with_key(endpoint: &str, region: &str, id: &str, secret: &str) -> Self {
        Self { client: Client::from_conf(config(endpoint, region, id, secret).build()) }
    }

    /// Names of all buckets.
    ///
    /// # Errors
    /// [`StoreError::Request`]
    pub async fn buckets(&self) -> Result<Vec<String>, StoreError> {
        let list = self.client.list_buckets().send().await.map_err(refused("listing buckets"))?;
        Ok(list.buckets().iter().filter_map(|bucket| bucket.name()).map(str::to_owned).collect())
    }

    /// Puts an object.
    ///
    /// # Errors
    /// [`StoreError::Request`]
    pub async fn put(&self, bucket: &str, key: &str, content: &str) -> Result<(), StoreError> {
        let body = content.as_bytes().to_vec().into();
        let put = self.client.put_object().bucket(bucket).key(key).body(body);
        put.send().await.map_err(refused("putting an object")).map(drop)
    }

    /// An object's content.
    ///
    /// # Errors
    /// [`StoreError::Request`], also if it is not text.
    pub async fn get(&self, bucket: &str, key: &str) -> Result<String, StoreError> {
        let get = self.client.get_object().bucket(bucket).key(key);
        let object = get.send().await.map_err(refused("getting an object"))?;
        let content = object.body.collect().await.map_err(failed("reading an object"))?;
        String::from_utf8(content.to_vec()).map_err(failed("reading an object"))
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// [`StoreError::Request`]
    pub async fn delete(&self, bucket: &str, key: &str) -> Result<(), StoreError> {
        let delete = self.client.delete_object().bucket(bucket).key(key);
        delete.send().await.map_err(refused("deleting an object")).map(drop)
    }
}

/// Of a client of the S3 server at `endpoint`, path style.
pub(crate) fn config(endpoint: &str, region: &str, id: &str, secret: &str) -> config::Builder {
    Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(endpoint)
        .region(Region::new(region.to_owned()))
        .credentials_provider(Credentials::new(id, secret, None, None, "given"))
        .force_path_style(true)
}

fn failed<E: std::error::Error>(what: &'static str) -> impl Fn(E) -> StoreError {
    move |error| StoreError::Request { what, why: DisplayErrorContext(&error).to_string() }
}

/// As [`failed`], for an answer of the S3 server.
fn refused<E>(what: &'static str) -> impl Fn(SdkError<E>) -> StoreError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    move |error| match error.code() {
        Some(code @ ("AccessDenied" | "InvalidAccessKeyId" | "SignatureDoesNotMatch")) => {
            StoreError::Denied { what, code: code.to_owned() }
        }
        _ => failed(what)(error),
    }
}
