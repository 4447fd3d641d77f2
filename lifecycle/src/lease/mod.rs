//! Who may act: one process at a time, by a Lease of the Kubernetes API (R15).
//!
//! Expected flow: `Read` → `Write(Create)` or, once the holder is silent for long enough, `Write(Update)` → `Wait` and
//! `Write(Update)` again and again → told to stop: `Write(Update)` that empties the holder → `End`.
//!
//! # Guarantees
//!
//! At any moment at most one elector of a Lease believes that it may act, if all of them follow the rules that client-go
//! follows, too:
//!
//! - *Candidate*: a record with a holder is taken over only after it was seen unchanged for the time that it names itself,
//!   counted on the candidate's own clock from when the candidate first saw it, and only if the Lease still has the
//!   resourceVersion that was seen.
//! - *Leader*: its term counts from when it **sent** the last renewal that is known to have succeeded. It stops acting a
//!   while before the term ends, whether or not it got to run in between.
//!
//! Both count time on their own [`Time`](crate::Time) only. What the record says of wall clocks is written for people and other
//! implementations, and never compared: [`Stamp`] has no order.
//!
//! # Assumptions
//!
//! Own clocks go at about the same speed, also while the machine sleeps. The API server applies a conditioned write at most
//! once, and only to the version that it names.

mod election;
mod known;
mod record;
mod reign;
mod talk;
mod terms;

pub use election::Election;
pub use record::{Found, Record, Stamp};
pub use talk::{Effect, End, Event, Loss, Moment, Standing, Term, Unreadable, Write, Written};
pub use terms::{InvalidTerms, Terms};

#[cfg(test)]
mod tests;
