//! What went wrong last, as the statuses tell it.

use crate::schema::fields;
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The latest error and when it was met. For people: nothing is ever decided by it (R16), and it holds no secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimestampedError {
    /// When the error was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::date_time")]
    pub time: Option<Time>,

    /// What went wrong, for a person to read. It may be logged, so it holds nothing secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields::error_message")]
    pub message: Option<String>,
}

impl TimestampedError {
    /// An error met at `time`. The API server takes at most 1.5 Mi characters of `message`.
    #[must_use]
    pub fn new(time: Timestamp, message: impl Into<String>) -> Self {
        Self { time: Some(Time(time)), message: Some(message.into()) }
    }
}
