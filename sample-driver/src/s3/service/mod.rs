//! The service itself, by the AWS SDK.
//!
//! The SDK brings its TLS provider along and uses that one explicitly, so this works whatever provider a process has
//! installed as its default, and needs none.

pub(super) mod buckets;
pub(super) mod users;

use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};

use self::{buckets::ServiceBuckets, users::ServiceUsers};

/// Longer than that, and the service is not answering.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// Where the service is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// URL of the S3 API; AWS's own if there is none.
    pub s3: Option<String>,
    /// URL of the IAM API; AWS's own if there is none.
    pub iam: Option<String>,
    /// Region to sign for, and to make buckets in.
    pub region: String,
    /// Whether a bucket's name stands in the path of a URL, not in its host name.
    pub path_style: bool,
}

/// Both halves of a service.
pub struct Service {
    /// Its S3 API.
    pub buckets: ServiceBuckets,
    /// Its IAM API.
    pub users: ServiceUsers,
}

impl Service {
    /// The service at that place, with credentials from the standard chain (environment, shared files, web identity,
    /// container, instance). They are asked for with the first call, and again when they expire.
    ///
    /// The SDK repeats nothing on its own: whether a call is repeated, and how soon, is the sidecar's decision.
    pub async fn at(place: &Place) -> Self {
        let timeouts = TimeoutConfig::builder().connect_timeout(CONNECT).operation_timeout(ANSWER).build();
        let shared = aws_config::defaults(BehaviorVersion::v2026_01_12())
            .region(Region::new(place.region.clone()))
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts)
            .load()
            .await;
        let buckets = ServiceBuckets { client: s3(&shared, place), region: place.region.clone() };
        Self { buckets, users: ServiceUsers { client: iam(&shared, place) } }
    }
}

fn s3(shared: &SdkConfig, place: &Place) -> aws_sdk_s3::Client {
    let mut config = aws_sdk_s3::config::Builder::from(shared).force_path_style(place.path_style);
    config.set_endpoint_url(place.s3.clone());
    aws_sdk_s3::Client::from_conf(config.build())
}

fn iam(shared: &SdkConfig, place: &Place) -> aws_sdk_iam::Client {
    let mut config = aws_sdk_iam::config::Builder::from(shared);
    config.set_endpoint_url(place.iam.clone());
    aws_sdk_iam::Client::from_conf(config.build())
}
