//! How a driver says no.

use std::fmt;

use tonic::{Code, Status};

use crate::model::value::InvalidValue;

/// Longest message sent, in bytes: longer ones don't fit into the headers that some clients accept.
const MAX_MESSAGE: usize = 4096;

/// A call failed. The kind decides what the sidecar does next; the message is for a person, who reads it in the object's
/// status.
///
/// The message says what a person should do. It must not hold a secret: what a backend answers often does, so take
/// from it what is needed. It is never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverError {
    kind: ErrorKind,
    message: String,
}

/// What kind of failure (COSI-ERR-2 to -10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A field, protocol or parameter is bad or not supported. Nothing was done. Not tried again until something changes.
    InvalidArgument,
    /// The name is taken by something that this request did not make. Nothing was done. Not tried again until something changes.
    AlreadyExists,
    /// The driver doesn't offer this. Nothing was done. Not tried again on this connection.
    Unimplemented,
    /// Several buckets in one access are not supported (grants only). Nothing was done.
    OutOfRange,
    /// No such bucket (only when asked for an existing one). Nothing was done. A delete of what is gone is a success instead.
    NotFound,
    /// Other work for the name has not ended. Tried again soon.
    Aborted,
    /// The backend doesn't let the driver do it. Nothing was done.
    PermissionDenied,
    /// The backend doesn't accept the driver's own credentials. Nothing was done.
    Unauthenticated,
    /// The state of the backend forbids it for now, as with a bucket that is not empty. Nothing was done.
    FailedPrecondition,
    /// The backend can't be reached or is not ready. The work may have been done, or take effect later.
    Unavailable,
    /// Some quota or rate limit was hit. The work may have been done, or take effect later.
    ResourceExhausted,
    /// It took too long. The work may have been done, or take effect later.
    DeadlineExceeded,
    /// Anything else. The work may have been done, or take effect later.
    Internal,
}

impl ErrorKind {
    /// The gRPC code that stands for it.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::InvalidArgument => Code::InvalidArgument,
            Self::AlreadyExists => Code::AlreadyExists,
            Self::Unimplemented => Code::Unimplemented,
            Self::OutOfRange => Code::OutOfRange,
            Self::NotFound => Code::NotFound,
            Self::Aborted => Code::Aborted,
            Self::PermissionDenied => Code::PermissionDenied,
            Self::Unauthenticated => Code::Unauthenticated,
            Self::FailedPrecondition => Code::FailedPrecondition,
            Self::Unavailable => Code::Unavailable,
            Self::ResourceExhausted => Code::ResourceExhausted,
            Self::DeadlineExceeded => Code::DeadlineExceeded,
            Self::Internal => Code::Internal,
        }
    }
}

macro_rules! constructors {
    ($($name:ident => $kind:ident;)*) => {$(
        #[doc = concat!("An error of kind [`ErrorKind::", stringify!($kind), "`].")]
        #[must_use]
        pub fn $name(message: impl Into<String>) -> Self {
            Self::new(ErrorKind::$kind, message)
        }
    )*};
}

impl DriverError {
    /// An error of that kind. An empty message is replaced by a general one.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.trim().is_empty() {
            message = format!("the driver gave no reason for {:?}", kind.code());
        }
        if message.len() > MAX_MESSAGE {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE - '…'.len_utf8()));
            message.push('…');
        }
        Self { kind, message }
    }

    constructors! {
        invalid_argument => InvalidArgument;
        already_exists => AlreadyExists;
        unimplemented => Unimplemented;
        out_of_range => OutOfRange;
        not_found => NotFound;
        aborted => Aborted;
        permission_denied => PermissionDenied;
        unauthenticated => Unauthenticated;
        failed_precondition => FailedPrecondition;
        unavailable => Unavailable;
        resource_exhausted => ResourceExhausted;
        deadline_exceeded => DeadlineExceeded;
        internal => Internal;
    }

    /// What kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What a person is told; never empty.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DriverError {}

/// A driver that makes an invalid name or id has a bug.
impl From<InvalidValue> for DriverError {
    fn from(error: InvalidValue) -> Self {
        Self::internal(format!("the driver made an invalid value: {error}"))
    }
}

impl From<DriverError> for Status {
    fn from(error: DriverError) -> Self {
        Self::new(error.kind.code(), error.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_never_empty() {
        for blank in ["", " \n"] {
            assert!(!DriverError::unavailable(blank).message().trim().is_empty());
        }
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let error = DriverError::internal("ä".repeat(40_000));
        assert!(error.message().len() <= MAX_MESSAGE);
        assert!(error.message().ends_with("ä…"));
    }

    #[test]
    fn the_status_has_the_code_and_the_message_and_no_details() {
        let status = Status::from(DriverError::failed_precondition("not empty"));
        assert_eq!(
            (status.code(), status.message(), status.details()),
            (Code::FailedPrecondition, "not empty", &[][..])
        );
    }
}
