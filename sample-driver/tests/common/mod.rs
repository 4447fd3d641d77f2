//! An S3 client for tests, and what it talks to.
#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

pub(crate) mod grants;
pub(crate) mod place;
pub(crate) mod proxy;
pub(crate) mod seaweed;
pub(crate) mod signed;
pub(crate) mod world;

use aws_sdk_s3::{
    Client, Config,
    config::{BehaviorVersion, Credentials, Region, retry::RetryConfig},
};

/// A client of the given server, path style, without retries.
pub(crate) fn client(endpoint: &str, access_key: &str, secret: &str) -> Client {
    // An error only says that another test of this process was first.
    let _first = rustls::crypto::ring::default_provider().install_default();
    let config = Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("anywhere-1"))
        .credentials_provider(Credentials::new(access_key, secret, None, None, "test"))
        .retry_config(RetryConfig::disabled())
        .endpoint_url(endpoint)
        .force_path_style(true);
    Client::from_conf(config.build())
}
