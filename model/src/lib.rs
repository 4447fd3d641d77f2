//! An explicit-state model of the protocol that never orphans a bucket, and the search through all of its states.
//!
//! The world is small: one name, one or two sidecars with a lease, an API server that holds one object, a user, a driver and its
//! backend. Each [`Budget`] says what may go wrong in it and how often. [`check`] visits *every* state that can be reached, in any
//! order of events, and looks whether an [`Invariant`] is broken. Each [`Rule`] can be switched off, which shows what it is for.
//!
//! What is modelled, what is left out, and why that is enough is in `docs/design/model.md`.

mod bounds;
mod check;
mod invariant;
mod judge;
mod moves;
mod report;
mod rule;
mod rules;
mod story;
mod world;
mod worlds;

pub use bounds::{Bounds, Budget, Driver, Kind, NotAfter};
pub use check::{check, check_all};
pub use invariant::Invariant;
pub use report::{Counterexample, Report};
pub use rule::Rule;
