//! Answers: the right ones, and the nonsense that a script makes of them.

use cosi_proto::v1alpha2 as wire;
use tonic::Status;

use super::abilities::Abilities;
use super::accounts::Account;
use super::backend::Bucket;
use super::info::{self, Protocol, bucket_info, credentials};
use super::script::{EditGrant, Nonsense};

/// The answer to a call. `Done` is the empty one of every delete and revoke.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    GetInfo(wire::DriverGetInfoResponse),
    Bucket { id: String, info: Option<wire::ObjectProtocolAndBucketInfo> },
    Grant(wire::DriverGrantBucketAccessResponse),
    Done,
}

impl Answer {
    pub(super) fn info(abilities: &Abilities) -> Self {
        Self::GetInfo(wire::DriverGetInfoResponse {
            name: abilities.name.clone(),
            supported_protocols: abilities.protocols.iter().map(|p| p.to_wire()).collect(),
        })
    }

    pub(super) fn bucket(bucket: Bucket, protocols: &[Protocol]) -> Self {
        let info = bucket_info(&bucket.id, protocols);
        Self::Bucket { id: bucket.id, info: Some(info) }
    }

    pub(super) fn grant(account: Account) -> Result<Self, Status> {
        let protocol = account.wanted.protocol().ok_or_else(|| Status::invalid_argument("no protocol"))?;
        let info = |id: &String| wire::driver_grant_bucket_access_response::BucketInfo {
            bucket_id: id.clone(),
            bucket_info: Some(bucket_info(id, &[protocol])),
        };
        Ok(Self::Grant(wire::DriverGrantBucketAccessResponse {
            buckets: account.reach.keys().map(info).collect(),
            credentials: Some(credentials(protocol, account.keys.last(), &account.id)),
            account_id: account.id,
        }))
    }

    /// The credentials in it.
    pub(super) fn secrets(&self) -> Vec<String> {
        match self {
            Self::Grant(grant) => grant.credentials.iter().flat_map(info::secrets).collect(),
            Self::GetInfo(_) | Self::Bucket { .. } | Self::Done => vec![],
        }
    }

    pub(super) fn edited(mut self, edit: &EditGrant) -> Self {
        if let Self::Grant(grant) = &mut self {
            edit(grant);
        }
        self
    }

    pub(super) fn spoilt(mut self, nonsense: &Nonsense) -> Self {
        match &mut self {
            Self::Bucket { id, info } => {
                spoil_id(id, nonsense);
                spoil_info(info, nonsense);
            }
            Self::Grant(grant) => {
                spoil_id(&mut grant.account_id, nonsense);
                if *nonsense == Nonsense::NoProtocolInfo {
                    grant.credentials = None;
                }
                for bucket in &mut grant.buckets {
                    spoil_info(&mut bucket.bucket_info, nonsense);
                }
            }
            Self::GetInfo(info) => match nonsense {
                Nonsense::NoProtocolInfo => info.supported_protocols.clear(),
                other => spoil_id(&mut info.name, other),
            },
            Self::Done => {}
        }
        self
    }
}

fn spoil_id(id: &mut String, nonsense: &Nonsense) {
    match nonsense {
        Nonsense::EmptyId => id.clear(),
        Nonsense::Id(other) => id.clone_from(other),
        Nonsense::NoProtocolInfo | Nonsense::OtherProtocol | Nonsense::EmptyFields => {}
    }
}

fn spoil_info(info: &mut Option<wire::ObjectProtocolAndBucketInfo>, nonsense: &Nonsense) {
    let Some(there) = info else { return };
    match nonsense {
        Nonsense::EmptyId | Nonsense::Id(_) => {}
        Nonsense::NoProtocolInfo => *info = None,
        Nonsense::OtherProtocol => {
            let other = if there.azure.is_some() { Protocol::Gcs } else { Protocol::Azure };
            *there = bucket_info("other", &[other]);
        }
        Nonsense::EmptyFields => {
            there.s3 = there.s3.take().map(|_| wire::S3BucketInfo::default());
            there.azure = there.azure.take().map(|_| wire::AzureBucketInfo::default());
            there.gcs = there.gcs.take().map(|_| wire::GcsBucketInfo::default());
        }
    }
}
