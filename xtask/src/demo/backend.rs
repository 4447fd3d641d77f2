//! What is really at the object store: asked over S3, not taken from anybody's word.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{BehaviorVersion, Config, Credentials, Region};

/// The object store, seen by its operator.
#[derive(Debug, Clone)]
pub(super) struct Backend {
    client: Client,
}

impl Backend {
    /// The S3 server at `endpoint`, with the key pair that the driver keeps in `credentials`.
    ///
    /// # Errors
    /// If the file cannot be read or lacks a key.
    pub(super) fn new(endpoint: &str, credentials: &Path) -> Result<Self> {
        let text = fs::read_to_string(credentials).context("read the S3 server's key pair")?;
        let value = |name: &str| {
            let pairs = text.lines().filter_map(|line| line.split_once('='));
            let found = pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name);
            found.map(|(_, value)| value.to_owned()).with_context(|| format!("no {name} for the S3 server"))
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
    pub(super) async fn buckets(&self) -> Result<Vec<String>> {
        let list = self.client.list_buckets().send().await.context("list the buckets of the S3 server")?;
        Ok(list.buckets().iter().filter_map(|bucket| bucket.name()).map(str::to_owned).collect())
    }

    pub(super) async fn put(&self, bucket: &str, key: &str, content: &str) -> Result<()> {
        let body = content.as_bytes().to_vec().into();
        let put = self.client.put_object().bucket(bucket).key(key).body(body);
        put.send().await.context("put an object").map(drop)
    }

    pub(super) async fn get(&self, bucket: &str, key: &str) -> Result<String> {
        let object =
            self.client.get_object().bucket(bucket).key(key).send().await.context("get an object")?;
        let content = object.body.collect().await.context("read an object")?;
        String::from_utf8(content.to_vec()).context("the object is not text")
    }

    pub(super) async fn delete(&self, bucket: &str, key: &str) -> Result<()> {
        let delete = self.client.delete_object().bucket(bucket).key(key);
        delete.send().await.context("delete an object").map(drop)
    }
}
