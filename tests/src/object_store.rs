//! What is really at the sample driver's object store: asked over S3, not taken from anybody's word.

use std::{fs, io, path::Path, path::PathBuf};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_s3::error::DisplayErrorContext;

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
    /// The store refused, or did not answer.
    #[error("{what}: {why}")]
    Request {
        /// What was asked for.
        what: &'static str,
        /// The answer.
        why: String,
    },
}

/// The object store, seen by its operator.
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
        let keys = Credentials::new(
            value("aws_access_key_id")?,
            value("aws_secret_access_key")?,
            None,
            None,
            "operator",
        );
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(endpoint)
            .region(Region::new("us-east-1"))
            .credentials_provider(keys)
            .force_path_style(true)
            .build();
        Ok(Self { client: Client::from_conf(config) })
    }

    /// Names of all buckets.
    ///
    /// # Errors
    /// [`StoreError::Request`]
    pub async fn buckets(&self) -> Result<Vec<String>, StoreError> {
        let list = self.client.list_buckets().send().await.map_err(failed("listing buckets"))?;
        Ok(list.buckets().iter().filter_map(|bucket| bucket.name()).map(str::to_owned).collect())
    }

    /// Puts an object.
    ///
    /// # Errors
    /// [`StoreError::Request`]
    pub async fn put(&self, bucket: &str, key: &str, content: &str) -> Result<(), StoreError> {
        let body = content.as_bytes().to_vec().into();
        let put = self.client.put_object().bucket(bucket).key(key).body(body);
        put.send().await.map_err(failed("putting an object")).map(drop)
    }

    /// An object's content.
    ///
    /// # Errors
    /// [`StoreError::Request`], also if it is not text.
    pub async fn get(&self, bucket: &str, key: &str) -> Result<String, StoreError> {
        let get = self.client.get_object().bucket(bucket).key(key);
        let object = get.send().await.map_err(failed("getting an object"))?;
        let content = object.body.collect().await.map_err(failed("reading an object"))?;
        String::from_utf8(content.to_vec()).map_err(failed("reading an object"))
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// [`StoreError::Request`]
    pub async fn delete(&self, bucket: &str, key: &str) -> Result<(), StoreError> {
        let delete = self.client.delete_object().bucket(bucket).key(key);
        delete.send().await.map_err(failed("deleting an object")).map(drop)
    }
}

fn failed<E: std::error::Error>(what: &'static str) -> impl Fn(E) -> StoreError {
    move |error| StoreError::Request { what, why: DisplayErrorContext(&error).to_string() }
}
