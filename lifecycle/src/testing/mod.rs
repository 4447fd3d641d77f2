//! What the sweeps of all machines have in common: a small world in virtual time, faults for every effect, and the search
//! for a plan that breaks an invariant.
//!
//! A run is determined by its [`Scenario`], the [`DriverKind`] and a plan: which effect meets which [`Fault`]. What is
//! particular to a kind of object – its API, its users, what a shell does for its effects, what must hold – is its
//! [`Kind`].

mod api;
mod backend;
mod calls;
mod effects;
mod explore;
mod fault;
mod held;
mod kind;
mod lane;
mod mutant;
mod oracle;
mod run;
mod scenario;
mod world;

pub(crate) use api::{Api, FOREIGN_FINALIZER, invalid, with_finalizers};
use backend::Running;
pub(crate) use backend::{Backend, DriverKind, Keys, Made, Reply, UNSTORABLE};
pub(crate) use calls::Asked;
pub(crate) use explore::{Search, at_every_point, caught, random, sweep, with_every_lag};
pub(crate) use fault::{ApiFault, CallFault, Crash, Depth, Fault, Target};
pub(crate) use held::Held;
pub(crate) use kind::{EffectOf, Kind};
pub(crate) use mutant::{Mutant, soften};
pub(crate) use oracle::Invariant;
pub(crate) use scenario::{Scenario, Trigger};
pub(crate) use world::World;

use std::time::Duration;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);
pub(crate) const GRACE: Duration = Duration::from_secs(10);
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(16);
