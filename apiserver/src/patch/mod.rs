//! Changes to an object, in the four forms that Kubernetes accepts.
//!
//! Each is a pure function from the object as it is to the object as it shall be. What comes out is then read like an
//! object that a client sent whole ([`Kind::read`](crate::schema::Kind::read)).

mod json;
mod merge;
mod owners;
mod strategic;

pub use json::{json, odd_operations};
pub use merge::{NO_MERGE_PATCH, merge};
pub use owners::{Application, ApplyError, Conflict, Writer, apply, track};
pub use strategic::strategic;

use thiserror::Error;

/// A patch that can't be applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatchError {
    /// It isn't a patch: 400 BadRequest.
    #[error("{0}")]
    Malformed(String),
    /// It doesn't fit the object: 422, with this text and no causes.
    #[error("{0}")]
    Unfit(String),
    /// It has more operations than allowed: 413.
    #[error("The allowed maximum operations in a JSON patch is {max}, got {count}")]
    TooLong {
        /// The most operations.
        max: usize,
        /// The operations it has.
        count: usize,
    },
    /// It met a value of another type than it needs: 500, as the API server has it.
    #[error("{0}")]
    Mistyped(String),
}
