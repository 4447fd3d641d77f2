//! What can become of a read or a write at the API server.

use std::time::Duration;

/// A request to the API server that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteFailure {
    /// 409: the object is no longer the one that was read. Read it and decide again (C24).
    Conflict,
    /// 404: there is no such object.
    NotFound,
    /// 422 or 400: the API server will never take this.
    Invalid {
        /// The API server's reason.
        message: String,
    },
    /// 401 or 403.
    Forbidden {
        /// The API server's reason.
        message: String,
    },
    /// Anything else: 429, 5xx, no answer. A write may have been applied all the same.
    Other {
        /// What happened, for a person.
        message: String,
        /// How long the API server asked to be left alone.
        retry_after: Option<Duration>,
    },
}

impl WriteFailure {
    /// How long the API server asked to be left alone.
    pub(crate) const fn asked(&self) -> Option<Duration> {
        match self {
            Self::Other { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
