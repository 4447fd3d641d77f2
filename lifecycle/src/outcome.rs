//! What a driver's answer means: is it worth trying again, and may the call still be at work?
//!
//! These are two questions. COSI's *retryable* answers the first and says nothing about the second.

use std::fmt;

/// A gRPC status code, without depending on a gRPC library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are gRPC's own")]
pub enum Code {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

impl Code {
    /// All codes that can accompany a failure.
    pub const ALL: [Self; 16] = [
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code with this number; `Unknown` for a number that gRPC does not define.
    #[must_use]
    pub fn from_number(number: i32) -> Self {
        usize::try_from(number)
            .ok()
            .and_then(|n| n.checked_sub(1))
            .and_then(|i| Self::ALL.get(i))
            .copied()
            .unwrap_or(Self::Unknown)
    }

    /// The number of this code.
    #[must_use]
    pub fn number(self) -> i32 {
        let place = Self::ALL.iter().position(|code| *code == self).unwrap_or_default();
        i32::try_from(place + 1).unwrap_or_default()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
        };
        f.write_str(name)
    }
}

/// The RPCs that the lifecycle sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the protocol's own")]
pub enum Rpc {
    CreateBucket,
    GetExistingBucket,
    DeleteBucket,
    DeleteBucketByName,
    GrantBucketAccess,
    RevokeBucketAccess,
    RevokeBucketAccessByName,
}

impl Rpc {
    /// The RPC's name in the proto file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CreateBucket => "DriverCreateBucket",
            Self::GetExistingBucket => "DriverGetExistingBucket",
            Self::DeleteBucket => "DriverDeleteBucket",
            Self::DeleteBucketByName => "DriverDeleteBucketByName",
            Self::GrantBucketAccess => "DriverGrantBucketAccess",
            Self::RevokeBucketAccess => "DriverRevokeBucketAccess",
            Self::RevokeBucketAccessByName => "DriverRevokeBucketAccessByName",
        }
    }
}

impl fmt::Display for Rpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A driver call that did not answer OK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request never left this process: there was no connection. Nothing can have happened.
    NotSent {
        /// Why, for a person.
        message: String,
    },
    /// The request may have left, and no answer came: our deadline, a cancellation, a lost connection.
    NoAnswer {
        /// The code that the client library made up, for a person.
        code: Code,
        /// Why, for a person.
        message: String,
    },
    /// The driver answered with a status other than OK.
    Answered {
        /// The status code.
        code: Code,
        /// The driver's message.
        message: String,
    },
}

/// What a failure says about the call itself (R3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It never began.
    NotSent,
    /// The driver will do nothing more for this call.
    Refused,
    /// It may still be at work. Nothing may be sent for the name until the grace has passed.
    Unknown,
    /// Like `Unknown`, but the driver serialises by itself: the *same* call may be repeated sooner.
    Busy,
}

impl Failure {
    /// What this failure says about the call.
    #[must_use]
    pub fn outcome(&self, rpc: Rpc) -> Outcome {
        match self {
            Self::NotSent { .. } => Outcome::NotSent,
            Self::NoAnswer { .. } => Outcome::Unknown,
            Self::Answered { code, .. } => answered(rpc, *code),
        }
    }

    /// Whether trying again is pointless until something changes.
    #[must_use]
    pub const fn is_terminal(&self, rpc: Rpc) -> bool {
        match self {
            Self::NotSent { .. } | Self::NoAnswer { .. } => false,
            Self::Answered { code, .. } => match code {
                Code::InvalidArgument | Code::AlreadyExists | Code::Unimplemented => true,
                Code::OutOfRange => matches!(rpc, Rpc::GrantBucketAccess),
                _ => false,
            },
        }
    }

    /// The status code, if the driver or the client library gave one.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::NotSent { .. } => None,
            Self::NoAnswer { code, .. } | Self::Answered { code, .. } => Some(*code),
        }
    }

    /// The message, for a person.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::NotSent { message } | Self::NoAnswer { message, .. } | Self::Answered { message, .. } => {
                message
            }
        }
    }
}

/// The class of an answer. One arm per code, so that a new code cannot slip into a class by accident.
const fn answered(rpc: Rpc, code: Code) -> Outcome {
    match code {
        // The driver looked at the request and will not act on it.
        Code::InvalidArgument
        | Code::AlreadyExists
        | Code::Unimplemented
        | Code::NotFound
        | Code::PermissionDenied
        | Code::Unauthenticated
        | Code::FailedPrecondition => Outcome::Refused,
        // Only Grant gives it a meaning: several buckets in one access are not supported.
        Code::OutOfRange => match rpc {
            Rpc::GrantBucketAccess => Outcome::Refused,
            _ => Outcome::Unknown,
        },
        Code::Aborted => Outcome::Busy,
        // Any of these can be answered while the backend is still at work: a proxy's timeout, a retried request, a
        // handler that gave up waiting.
        Code::Cancelled
        | Code::Unknown
        | Code::DeadlineExceeded
        | Code::ResourceExhausted
        | Code::Internal
        | Code::Unavailable
        | Code::DataLoss => Outcome::Unknown,
    }
}
