//! The in-flight queue's record of one idempotency key (R6), as far as Buckets and accesses are alike: what may be at the
//! backend, what must not be done before when, and what a person was told.

mod backend;
mod flight;
mod pace;
mod telling;

pub(crate) use backend::{Backend, Sent};
pub(crate) use flight::{DriverCall, Flight, Owner, Role, Sending, Undo};
pub(crate) use pace::{Attempt, Pace, Purpose};
pub(crate) use telling::Telling;
