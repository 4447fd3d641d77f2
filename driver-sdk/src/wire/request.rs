//! From a request on the wire to what the driver is asked: every limit of the protocol, checked before the driver sees it.

use std::collections::{BTreeMap, BTreeSet};

use cosi_proto::v1alpha2 as proto;
use proto::access_mode::Mode;
use proto::authentication_type::Type;

use crate::error::DriverError;
use crate::model::access::{AccessMode, AccessedBucket, Authentication};
use crate::model::ids::{AccountId, AccountName, BucketId, BucketName};
use crate::model::parameters::Parameters;
use crate::model::protocol::Protocol;
use crate::model::requests::{
    CreateBucketRequest, DeleteBucketByNameRequest, DeleteBucketRequest, GetExistingBucketRequest,
    GrantAccessRequest, RevokeAccessByNameRequest, RevokeAccessRequest,
};
use crate::model::value::{self, InvalidValue, MAX_NAME, Problem};

/// Longest map, keys and values together, in bytes (COSI-GEN-8).
const MAX_PARAMETERS: usize = 4096;

pub(crate) type Checked<T> = Result<T, InvalidField>;

/// A field of a request breaks a rule. The text names the field, never its value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}")]
pub(crate) struct InvalidField {
    field: String,
    problem: Problem,
}

impl From<InvalidField> for DriverError {
    fn from(error: InvalidField) -> Self {
        Self::invalid_argument(error.to_string())
    }
}

fn invalid<T>(field: impl Into<String>, problem: Problem) -> Checked<T> {
    Err(InvalidField { field: field.into(), problem })
}

/// A request that can be checked.
pub(crate) trait FromWire<W>: Sized {
    fn from_wire(wire: W) -> Checked<Self>;
}

impl FromWire<proto::DriverCreateBucketRequest> for CreateBucketRequest {
    fn from_wire(wire: proto::DriverCreateBucketRequest) -> Checked<Self> {
        Ok(Self {
            name: text("name", wire.name, BucketName::new)?,
            protocols: protocols(&wire.protocols)?,
            parameters: parameters(wire.parameters)?,
        })
    }
}

impl FromWire<proto::DriverGetExistingBucketRequest> for GetExistingBucketRequest {
    fn from_wire(wire: proto::DriverGetExistingBucketRequest) -> Checked<Self> {
        Ok(Self {
            bucket_id: text("existing_bucket_id", wire.existing_bucket_id, BucketId::new)?,
            protocols: protocols(&wire.protocols)?,
            parameters: parameters(wire.parameters)?,
        })
    }
}

impl FromWire<proto::DriverDeleteBucketRequest> for DeleteBucketRequest {
    fn from_wire(wire: proto::DriverDeleteBucketRequest) -> Checked<Self> {
        Ok(Self {
            bucket_id: text("bucket_id", wire.bucket_id, BucketId::new)?,
            parameters: parameters(wire.parameters)?,
        })
    }
}

impl FromWire<proto::DriverDeleteBucketByNameRequest> for DeleteBucketByNameRequest {
    fn from_wire(wire: proto::DriverDeleteBucketByNameRequest) -> Checked<Self> {
        Ok(Self {
            name: text("name", wire.name, BucketName::new)?,
            protocols: protocols(&wire.protocols)?,
            parameters: parameters(wire.parameters)?,
        })
    }
}

impl FromWire<proto::DriverGrantBucketAccessRequest> for GrantAccessRequest {
    fn from_wire(wire: proto::DriverGrantBucketAccessRequest) -> Checked<Self> {
        Ok(Self {
            account_name: text("account_name", wire.account_name, AccountName::new)?,
            protocol: protocol(wire.protocol)?,
            authentication: authentication(wire.authentication_type, wire.service_account_name)?,
            parameters: parameters(wire.parameters)?,
            buckets: accessed(wire.buckets)?,
        })
    }
}

impl FromWire<proto::DriverRevokeBucketAccessRequest> for RevokeAccessRequest {
    fn from_wire(wire: proto::DriverRevokeBucketAccessRequest) -> Checked<Self> {
        Ok(Self {
            account_id: text("account_id", wire.account_id, AccountId::new)?,
            protocol: protocol(wire.protocol)?,
            authentication: authentication(wire.authentication_type, wire.service_account_name)?,
            parameters: parameters(wire.parameters)?,
            buckets: bucket_ids(wire.buckets.into_iter().map(|bucket| bucket.bucket_id))?,
        })
    }
}

impl FromWire<proto::DriverRevokeBucketAccessByNameRequest> for RevokeAccessByNameRequest {
    fn from_wire(wire: proto::DriverRevokeBucketAccessByNameRequest) -> Checked<Self> {
        Ok(Self {
            account_name: text("account_name", wire.account_name, AccountName::new)?,
            protocol: protocol(wire.protocol)?,
            authentication: authentication(wire.authentication_type, wire.service_account_name)?,
            parameters: parameters(wire.parameters)?,
            buckets: bucket_ids(wire.buckets.into_iter().map(|bucket| bucket.bucket_id))?,
        })
    }
}

fn text<T>(field: &str, text: String, check: fn(String) -> Result<T, InvalidValue>) -> Checked<T> {
    check(text).or_else(|error| invalid(field, error.problem().clone()))
}

fn protocols(wire: &[proto::ObjectProtocol]) -> Checked<BTreeSet<Protocol>> {
    let mut found = BTreeSet::new();
    for one in wire {
        let Some(protocol) = Protocol::from_wire(*one) else { return invalid("protocols", Problem::Unknown) };
        if !found.insert(protocol) {
            return invalid("protocols", Problem::Twice);
        }
    }
    Ok(found)
}

fn protocol(wire: Option<proto::ObjectProtocol>) -> Checked<Protocol> {
    wire.and_then(Protocol::from_wire).map_or_else(|| invalid("protocol", Problem::Unknown), Ok)
}

fn authentication(wire: Option<proto::AuthenticationType>, name: String) -> Checked<Authentication> {
    match wire.as_ref().map(proto::AuthenticationType::r#type) {
        // A name that comes along all the same means nothing here.
        Some(Type::Key) => Ok(Authentication::Key),
        Some(Type::ServiceAccount) if name.is_empty() => invalid("service_account_name", Problem::Empty),
        Some(Type::ServiceAccount) => match value::at_most(&name, MAX_NAME) {
            Ok(()) => Ok(Authentication::ServiceAccount { name }),
            Err(problem) => invalid("service_account_name", problem),
        },
        Some(Type::Unknown) | None => invalid("authentication_type", Problem::Unknown),
    }
}

fn parameters(wire: BTreeMap<String, String>) -> Checked<Parameters> {
    let size: usize = wire.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > MAX_PARAMETERS {
        return invalid("parameters", Problem::TooLong { limit: MAX_PARAMETERS });
    }
    Ok(wire.into())
}

fn accessed(
    wire: Vec<proto::driver_grant_bucket_access_request::AccessedBucket>,
) -> Checked<Vec<AccessedBucket>> {
    if wire.is_empty() {
        return invalid("buckets", Problem::Empty);
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::with_capacity(wire.len());
    for (index, bucket) in wire.into_iter().enumerate() {
        let bucket_id = text(&format!("buckets[{index}].bucket_id"), bucket.bucket_id, BucketId::new)?;
        if !seen.insert(bucket_id.clone()) {
            return invalid("buckets", Problem::Twice);
        }
        let Some(mode) = bucket.access_mode.and_then(access_mode) else {
            return invalid(format!("buckets[{index}].access_mode"), Problem::Unknown);
        };
        found.push(AccessedBucket { bucket_id, mode });
    }
    Ok(found)
}

fn access_mode(wire: proto::AccessMode) -> Option<AccessMode> {
    match wire.mode() {
        Mode::Unknown => None,
        Mode::ReadWrite => Some(AccessMode::ReadWrite),
        Mode::ReadOnly => Some(AccessMode::ReadOnly),
        Mode::WriteOnly => Some(AccessMode::WriteOnly),
    }
}

/// The buckets of an account that is to go. None at all is no reason to leave the account alive.
fn bucket_ids(wire: impl Iterator<Item = String>) -> Checked<Vec<BucketId>> {
    wire.enumerate()
        .map(|(index, id)| text(&format!("buckets[{index}].bucket_id"), id, BucketId::new))
        .collect()
}
