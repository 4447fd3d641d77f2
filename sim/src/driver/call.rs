//! The calls that a driver gets, all RPCs under one roof.

use std::fmt;
use std::time::Duration;

use cosi_proto::NOT_AFTER_KEY;
use cosi_proto::v1alpha2 as wire;
use rustix::time::{ClockId, clock_gettime};
use tonic::metadata::MetadataMap;

/// The RPCs of both services, by their short names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rpc {
    /// `DriverGetInfo`.
    GetInfo,
    /// `DriverCreateBucket`.
    Create,
    /// `DriverGetExistingBucket`.
    GetExisting,
    /// `DriverDeleteBucket`.
    Delete,
    /// `DriverDeleteBucketByName`.
    DeleteByName,
    /// `DriverGrantBucketAccess`.
    Grant,
    /// `DriverRevokeBucketAccess`.
    Revoke,
    /// `DriverRevokeBucketAccessByName`.
    RevokeByName,
}

impl Rpc {
    /// Every RPC of the Provisioner service.
    pub const PROVISIONER: [Self; 7] = [
        Self::Create,
        Self::GetExisting,
        Self::Delete,
        Self::DeleteByName,
        Self::Grant,
        Self::Revoke,
        Self::RevokeByName,
    ];
}

/// A request, whichever RPC it belongs to.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each variant is the request of the RPC of that name")]
pub enum Request {
    GetInfo(wire::DriverGetInfoRequest),
    Create(wire::DriverCreateBucketRequest),
    GetExisting(wire::DriverGetExistingBucketRequest),
    Delete(wire::DriverDeleteBucketRequest),
    DeleteByName(wire::DriverDeleteBucketByNameRequest),
    Grant(wire::DriverGrantBucketAccessRequest),
    Revoke(wire::DriverRevokeBucketAccessRequest),
    RevokeByName(wire::DriverRevokeBucketAccessByNameRequest),
}

impl Request {
    /// Which RPC it belongs to.
    #[must_use]
    pub fn rpc(&self) -> Rpc {
        match self {
            Self::GetInfo(_) => Rpc::GetInfo,
            Self::Create(_) => Rpc::Create,
            Self::GetExisting(_) => Rpc::GetExisting,
            Self::Delete(_) => Rpc::Delete,
            Self::DeleteByName(_) => Rpc::DeleteByName,
            Self::Grant(_) => Rpc::Grant,
            Self::Revoke(_) => Rpc::Revoke,
            Self::RevokeByName(_) => Rpc::RevokeByName,
        }
    }

    /// The name in the request; empty if it goes by id.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Create(r) => &r.name,
            Self::DeleteByName(r) => &r.name,
            Self::Grant(r) => &r.account_name,
            Self::RevokeByName(r) => &r.account_name,
            Self::GetInfo(_) | Self::GetExisting(_) | Self::Delete(_) | Self::Revoke(_) => "",
        }
    }

    /// The id in the request; empty if it goes by name.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::GetExisting(r) => &r.existing_bucket_id,
            Self::Delete(r) => &r.bucket_id,
            Self::Revoke(r) => &r.account_id,
            Self::GetInfo(_)
            | Self::Create(_)
            | Self::DeleteByName(_)
            | Self::Grant(_)
            | Self::RevokeByName(_) => "",
        }
    }
}

/// One call as it arrived.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its number, from 0, in the order of arrival.
    pub number: usize,
    /// Since the driver was made (restarts don't count).
    pub at: Duration,
    /// The RPC.
    pub rpc: Rpc,
    /// Bucket or account name. For a call by id: the name that the id was made for, if this backend made it.
    pub name: String,
    /// Bucket or account id; empty if the call goes by name.
    pub id: String,
    /// The whole request.
    pub request: Request,
    /// The client's deadline, from its `grpc-timeout`.
    pub timeout: Option<Duration>,
    /// `cosi-not-after-ns` as sent.
    pub not_after_ns: Option<u64>,
}

impl Call {
    /// What calls are serialised by: the name, or an id that nobody here made.
    #[must_use]
    pub fn key(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {:?}", self.number, self.rpc)?;
        for (what, value) in [("name", &self.name), ("id", &self.id)] {
            if !value.is_empty() {
                write!(f, " {what}={}", brief(value))?;
            }
        }
        self.timeout.map_or(Ok(()), |timeout| write!(f, " timeout={timeout:?}"))
    }
}

/// At most 80 characters of a text.
pub(super) fn brief(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((cut, _)) => format!("{}… ({} bytes)", text.get(..cut).unwrap_or_default(), text.len()),
        None => text.to_owned(),
    }
}

pub(super) fn timeout(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let value: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(value * 3600)),
        "M" => Some(Duration::from_secs(value * 60)),
        "S" => Some(Duration::from_secs(value)),
        "m" => Some(Duration::from_millis(value)),
        "u" => Some(Duration::from_micros(value)),
        "n" => Some(Duration::from_nanos(value)),
        _ => None,
    }
}

pub(super) fn not_after_ns(metadata: &MetadataMap) -> Option<u64> {
    metadata.get(NOT_AFTER_KEY)?.to_str().ok()?.parse().ok()
}

/// What `cosi-not-after-ns` is counted by.
pub(super) fn boottime_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    part(now.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(now.tv_nsec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_of_a_grpc_timeout_is_understood() {
        for (text, expected) in [
            ("2H", Some(Duration::from_hours(2))),
            ("20S", Some(Duration::from_secs(20))),
            ("500m", Some(Duration::from_millis(500))),
            ("20000000u", Some(Duration::from_secs(20))),
            ("7n", Some(Duration::from_nanos(7))),
            ("", None),
            ("7", None),
            ("x7S", None),
        ] {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            assert_eq!(timeout(&metadata), expected, "{text}");
        }
    }
}
