//! The decisions of the COSI sidecar, and nothing else.
//!
//! This crate holds the state machines that turn a Kubernetes object into a backend resource and take it away again
//! without ever orphaning one. It is pure: no I/O, no clock, no randomness. The shell around it (crate `cosi-sidecar`)
//! reads objects, calls the driver, writes results, and folds what happened back in as an [`bucket::Event`].
//!
//! # The form of a machine
//!
//! ```text
//! step(view, state, event, context) -> effect        one effect at a time
//! ```
//!
//! *view* is the object as it was last read, *state* is what this process knows of the name and the API does not hold
//! (the in-flight queue's record, R6), *event* is the result of the last effect. Time is passed in.
//!
//! # Guarantees
//!
//! - At most one driver call per name is outstanding, and one whose outcome is unknown counts as outstanding until the
//!   grace for late landings has passed (R3, I8).
//! - Nothing is sent to the driver before the finalizer is on the object (R1).
//! - A finalizer is taken off only when the backend is known to be clean, or a person's policy or annotation says so.
//!
//! # Assumptions
//!
//! The shell runs one pass per name at a time, folds own writes into the view before the next step (R5), and keeps a
//! state for as long as [`bucket::BucketState::is_empty`] is false.
//!
//! Rule numbers (R1…R17) and invariants (I1…I9) are those of `docs/design/lifecycle.md`.

pub mod access;
mod backoff;
pub mod bucket;
mod fence;
mod finalizers;
mod inflight;
pub mod lease;
mod machine;
mod note;
mod outcome;
mod problem;
mod settings;
#[cfg(test)]
mod testing;
mod time;
mod write;

pub use backoff::Retry;
pub use fence::Fence;
pub use finalizers::split_finalizers;
pub use machine::{Impossible, Machine, Request, Rest, Wake};
pub use note::{Kind, Note, NoteReason, ObjectRef, Severity};
pub use outcome::{Code, Failure, Outcome, Rpc};
pub use problem::{Problem, ProblemKey, Report, TextId};
pub use settings::{Context, Settings};
pub use time::Time;
pub use write::WriteFailure;

/// The UID that the API server gave an object.
pub type Uid = std::sync::Arc<str>;
