//! What the machine asks of the shell, and what the shell answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use cosi_api::value::AccountId;
use cosi_api::{BucketAccessAuthenticationType, BucketAccessMode, ObjectProtocol};

use super::{Owner, Place, SecretData, SecretView};
use crate::bucket::BucketView;
use crate::inflight::{DriverCall, Role};
use crate::{Failure, Note, Rest, Rpc, Time, Uid, Wake, WriteFailure};

/// One thing for the shell to do; its result comes back as an [`Event`].
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read the access live. Answer: [`Event::Read`], with the object as the next step's view if it has the UID that the
    /// machine is about, and none otherwise.
    Read(Place),
    /// Read these Buckets live. Answer: [`Event::Buckets`].
    ReadBuckets(Vec<Arc<str>>),
    /// Replace `metadata.finalizers`, on condition of UID and resourceVersion. Answer: [`Event::Wrote`].
    WriteFinalizers {
        /// The object that is meant.
        object: Version,
        /// All finalizers that the object has afterwards.
        finalizers: Vec<String>,
    },
    /// Set or remove the annotation that says that the clean-up is finished, on condition of UID and resourceVersion.
    /// Answer: [`Event::Wrote`].
    WriteCleanupFinished {
        /// The object that is meant.
        object: Version,
        /// Whether it has the annotation afterwards.
        finished: bool,
    },
    /// Merge into the status, on condition of resourceVersion. Answer: [`Event::Wrote`].
    WriteStatus {
        /// The object that is meant.
        object: Version,
        /// What to write.
        status: StatusWrite,
    },
    /// Read a Secret live. Answer: [`Event::Secret`].
    ReadSecret(Place),
    /// Create a Secret of type Opaque with our finalizer and a controller owner reference. Answer: [`Event::Secret`], with
    /// [`WriteFailure::Conflict`] if there is one of that name.
    CreateSecret {
        /// The Secret.
        place: Place,
        /// The access.
        owner: Owner,
        /// What is in it; empty if it is only reserved.
        data: SecretData,
    },
    /// Write values into a Secret, on condition of UID and resourceVersion. Other keys stay. Answer: [`Event::Secret`].
    WriteSecret {
        /// The Secret.
        secret: Version,
        /// What to write.
        data: SecretData,
    },
    /// Replace a Secret's finalizers, on condition of UID and resourceVersion. Answer: [`Event::Secret`].
    ReleaseSecret {
        /// The Secret.
        secret: Version,
        /// All finalizers that the Secret has afterwards.
        finalizers: Vec<String>,
    },
    /// Delete a Secret, on condition of UID and resourceVersion. Answer: [`Event::Secret`], with what is left of it.
    DeleteSecret(Version),
    /// Call the driver. Answer: [`Event::Called`].
    Call(Call),
    /// Call the driver although the lease is lost. Answer: [`Event::Called`].
    LastWill(Call),
    /// Tell a person: a Kubernetes Event and a log line, best effort. Answer: [`Event::Told`].
    Tell(Note),
    /// End of this pass; start another one at that time, or sooner when something changes.
    Wait(Time),
    /// End of this pass; nothing to do until something changes.
    Done,
}

/// An object as it was read, as the condition of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Where it is.
    pub place: Place,
    /// Which one it is.
    pub uid: Uid,
    /// The version that the decision was made on.
    pub resource_version: Box<str>,
}

/// A write to the status subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusWrite {
    /// Every Secret holds working credentials: id and readiness in one write, and no error (R7).
    Ready(AccountId),
    /// The access is not usable, or soon will not be.
    NotReady,
    /// Something is wrong. Nothing else changes.
    Error {
        /// The text for `status.error.message`.
        text: String,
    },
}

/// A driver call with everything that the driver needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// DriverGrantBucketAccess.
    Grant(Request),
    /// DriverRevokeBucketAccess.
    Revoke {
        /// The backend's id of the account.
        id: Box<str>,
        /// What was granted.
        request: Request,
    },
    /// DriverRevokeBucketAccessByName: the undo of a Grant with the same request.
    RevokeByName(Request),
}

/// The fields that identify what a Grant asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The account's name, made of the access's UID (R2).
    pub account: Arc<str>,
    /// What the application speaks.
    pub protocol: ObjectProtocol,
    /// How it proves who it is.
    pub authentication: BucketAccessAuthenticationType,
    /// The Kubernetes ServiceAccount; only for that type of authentication.
    pub service_account: Option<Box<str>>,
    /// Parameters of the class.
    pub parameters: Option<Arc<BTreeMap<String, String>>>,
    /// The buckets to be reached.
    pub buckets: Vec<Reach>,
}

/// A bucket to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The backend's id of the bucket.
    pub id: Box<str>,
    /// What may be done in it.
    pub mode: BucketAccessMode,
}

impl Call {
    /// Which RPC it is.
    #[must_use]
    pub const fn rpc(&self) -> Rpc {
        match self {
            Self::Grant(_) => Rpc::GrantBucketAccess,
            Self::Revoke { .. } => Rpc::RevokeBucketAccess,
            Self::RevokeByName(_) => Rpc::RevokeBucketAccessByName,
        }
    }
}

impl DriverCall for Call {
    fn rpc(&self) -> Rpc {
        Self::rpc(self)
    }

    fn role(&self) -> Role<'_> {
        match self {
            Self::Grant(_) => Role::Make,
            Self::Revoke { id, .. } => Role::UndoById(id),
            Self::RevokeByName(_) => Role::UndoByName,
        }
    }
}

/// What happened: the result of the last effect, or a new beginning.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A pass begins.
    Start(Wake),
    /// Answer to [`Effect::Read`]; the object, or that there is none, is the view.
    Read(Result<(), WriteFailure>),
    /// Answer to [`Effect::ReadBuckets`], in the same order; `None` for one that does not exist.
    Buckets(Vec<Result<Option<BucketView>, WriteFailure>>),
    /// Answer to a write of the access; the object as the API server returned it is the view.
    Wrote(Result<(), WriteFailure>),
    /// Answer to whatever was done with a Secret: how it is now.
    Secret(Result<Option<SecretView>, WriteFailure>),
    /// Answer to [`Effect::Call`].
    Called(Result<CallOk, Failure>),
    /// Answer to [`Effect::Tell`].
    Told,
}

/// A driver's OK.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOk {
    /// To Grant: what the driver said, not yet checked.
    Granted {
        /// `account_id`, as it came.
        id: String,
        /// Each bucket for which there is info.
        buckets: Vec<GrantedBucket>,
        /// The credentials of each protocol for which there is a message.
        credentials: Vec<(ObjectProtocol, SecretData)>,
    },
    /// To Revoke or RevokeByName.
    Revoked,
}

/// What a Grant says of one bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedBucket {
    /// The backend's id, as it came.
    pub id: String,
    /// The info of each protocol for which there is a message, by the keys of `status.bucketInfo`, without empty values.
    pub info: Vec<(ObjectProtocol, BTreeMap<String, String>)>,
}

impl From<Wake> for Event {
    fn from(wake: Wake) -> Self {
        Self::Start(wake)
    }
}

impl crate::Request for Effect {
    fn ends_pass(&self) -> Option<Rest> {
        match self {
            Self::Wait(until) => Some(Rest::Until(*until)),
            Self::Done => Some(Rest::UntilWoken),
            _ => None,
        }
    }

    fn begins_something(&self) -> bool {
        matches!(self, Self::Call(_) | Self::LastWill(_) | Self::ReadBuckets(_))
    }
}
