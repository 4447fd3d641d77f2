//! Seeing each call begin and end: for metrics, audit, and one's own rules on who may call.

use std::fmt;
use std::time::Duration;

use crate::error::{DriverError, ErrorKind};

/// Who is at the other end of the socket, as the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Process, if it can be told.
    pub pid: Option<i32>,
}

/// A call, as an [`Interceptor`] sees it.
#[derive(Clone)]
#[non_exhaustive]
pub struct CallInfo {
    /// Which RPC, as in `DriverCreateBucket`.
    pub rpc: &'static str,
    /// The name or id that it is about; empty if the request has no valid one, and for `DriverGetInfo`.
    pub subject: String,
    /// Who calls.
    pub peer: Option<Peer>,
    /// For [`metadata`](Self::metadata).
    pub(crate) metadata: tonic::metadata::MetadataMap,
}

impl CallInfo {
    /// A text of the call's metadata; keys are in lower case.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).and_then(|value| value.to_str().ok())
    }
}

/// Metadata may hold a token, so it isn't shown.
impl fmt::Debug for CallInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rpc, subject, peer, metadata: _ } = self;
        f.debug_struct("CallInfo")
            .field("rpc", rpc)
            .field("subject", subject)
            .field("peer", peer)
            .finish_non_exhaustive()
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CallEnd<'a> {
    /// Why it failed, if it did.
    pub error: Option<&'a DriverError>,
    /// How long it took.
    pub took: Duration,
    /// Whether its caller had gone before it ended.
    pub abandoned: bool,
}

impl CallEnd<'_> {
    /// The gRPC code, as metrics name it: `OK`, `InvalidArgument`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.error.map(DriverError::kind) {
            None => "OK",
            Some(ErrorKind::InvalidArgument) => "InvalidArgument",
            Some(ErrorKind::AlreadyExists) => "AlreadyExists",
            Some(ErrorKind::Unimplemented) => "Unimplemented",
            Some(ErrorKind::OutOfRange) => "OutOfRange",
            Some(ErrorKind::NotFound) => "NotFound",
            Some(ErrorKind::Aborted) => "Aborted",
            Some(ErrorKind::PermissionDenied) => "PermissionDenied",
            Some(ErrorKind::Unauthenticated) => "Unauthenticated",
            Some(ErrorKind::FailedPrecondition) => "FailedPrecondition",
            Some(ErrorKind::Unavailable) => "Unavailable",
            Some(ErrorKind::ResourceExhausted) => "ResourceExhausted",
            Some(ErrorKind::DeadlineExceeded) => "DeadlineExceeded",
            Some(ErrorKind::Internal) => "Internal",
        }
    }
}

/// Looks at each call of the server, and may refuse it. No secret passes through here, nor any parameter.
///
/// # Guarantees
/// [`before`](Self::before) is called for a request that is well-formed, before the name is taken and before the driver
/// sees it. [`after`](Self::after) is called exactly once for each call, refused ones included, when its work has
/// ended, whether or not anybody still waits for it. A panic in one of them fails the call, or is traced, and goes no
/// further.
///
/// Both are called on the server's own threads and must not block.
pub trait Interceptor: Send + Sync + 'static {
    /// A call is about to begin.
    ///
    /// # Errors
    /// What the caller is to be answered instead; `PERMISSION_DENIED`, say.
    fn before(&self, call: &CallInfo) -> Result<(), DriverError> {
        let _ = call;
        Ok(())
    }

    /// A call has ended.
    fn after(&self, call: &CallInfo, end: &CallEnd<'_>) {
        let _ = (call, end);
    }
}
