//! What the machine asks of the shell, and what the shell answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use cosi_api::ObjectProtocol;
use cosi_api::value::BucketId;

use super::ClaimRef;
use crate::inflight::{DriverCall, Role};
use crate::{Failure, Note, Rest, Rpc, Time, Uid, Wake, WriteFailure};

/// One thing for the shell to do; its result comes back as an [`Event`].
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read the object live. Answer: [`Event::Read`], with the object as the next step's view.
    Read,
    /// Read the claim live. Answer: [`Event::Claim`].
    ReadClaim(ClaimRef),
    /// Replace `metadata.finalizers`, on condition of UID and resourceVersion. Answer: [`Event::Wrote`].
    WriteFinalizers {
        /// The object that is meant.
        uid: Uid,
        /// The version that the decision was made on.
        resource_version: Box<str>,
        /// All finalizers that the object has afterwards.
        finalizers: Vec<String>,
    },
    /// Merge into the status, on condition of resourceVersion. Answer: [`Event::Wrote`].
    WriteStatus {
        /// The version that the decision was made on.
        resource_version: Box<str>,
        /// What to write.
        status: StatusWrite,
    },
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

/// A write to the status subresource.
#[derive(Clone, Debug, PartialEq)]
pub enum StatusWrite {
    /// The bucket is there: id, protocols, info and readiness in one write, and no error (R7).
    Ready(BucketAnswer),
    /// Something is wrong. Nothing else changes, but for a first status, which needs `readyToUse`.
    Error {
        /// The text for `status.error.message`.
        text: String,
        /// There is no status yet: write `readyToUse: false`, too.
        first: bool,
    },
}

/// A usable answer of DriverCreateBucket or DriverGetExistingBucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketAnswer {
    /// The backend's id.
    pub id: BucketId,
    /// Protocols that the bucket speaks.
    pub protocols: Vec<ObjectProtocol>,
    /// What a client needs to know, by the keys of `status.bucketInfo`.
    pub info: BTreeMap<String, String>,
}

/// A driver call with everything that the driver needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// DriverCreateBucket.
    Create(Request),
    /// DriverGetExistingBucket.
    GetExisting {
        /// The id that the administrator gave.
        id: Box<str>,
        /// What is wanted of it.
        request: Request,
    },
    /// DriverDeleteBucket.
    Delete {
        /// The backend's id.
        id: Box<str>,
        /// Parameters of the class.
        parameters: Option<Arc<BTreeMap<String, String>>>,
    },
    /// DriverDeleteBucketByName: the undo of a Create with the same request.
    DeleteByName(Request),
}

/// The fields that identify what a Create asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The Bucket's name.
    pub name: Arc<str>,
    /// Protocols that the bucket must speak.
    pub protocols: Box<[ObjectProtocol]>,
    /// Parameters of the class.
    pub parameters: Option<Arc<BTreeMap<String, String>>>,
}

impl Call {
    /// Which RPC it is.
    #[must_use]
    pub const fn rpc(&self) -> Rpc {
        match self {
            Self::Create(_) => Rpc::CreateBucket,
            Self::GetExisting { .. } => Rpc::GetExistingBucket,
            Self::Delete { .. } => Rpc::DeleteBucket,
            Self::DeleteByName(_) => Rpc::DeleteBucketByName,
        }
    }
}

impl DriverCall for Call {
    fn rpc(&self) -> Rpc {
        Self::rpc(self)
    }

    fn role(&self) -> Role<'_> {
        match self {
            Self::Create(_) => Role::Make,
            Self::GetExisting { .. } => Role::Look,
            Self::Delete { id, .. } => Role::UndoById(id),
            Self::DeleteByName(_) => Role::UndoByName,
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
    /// Answer to [`Effect::ReadClaim`].
    Claim(Claim),
    /// Answer to a write; the object as the API server returned it is the view.
    Wrote(Result<(), WriteFailure>),
    /// Answer to [`Effect::Call`].
    Called(Result<CallOk, Failure>),
    /// Answer to [`Effect::Tell`].
    Told,
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
        matches!(self, Self::Call(_) | Self::LastWill(_) | Self::ReadClaim(_))
    }
}

/// A driver's OK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOk {
    /// To Create or GetExisting: what the driver said, not yet checked.
    Bucket {
        /// `bucket_id`, as it came.
        id: String,
        /// Protocols for which there is info.
        protocols: Vec<ObjectProtocol>,
        /// The info by the keys of `status.bucketInfo`.
        info: BTreeMap<String, String>,
    },
    /// To Delete or DeleteByName.
    Deleted,
}

/// What a live read of the claim showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The claim with that UID exists and is not deleting.
    Live,
    /// The claim with that UID is deleting, or gone.
    Leaving,
    /// It could not be read: forbidden, or a fault.
    Unreadable,
}
