//! The world of one Bucket: one name, a claim, users.

mod api;
mod calls;
mod effects;
mod kind;
mod oracle;
mod seams;
mod user;

pub(crate) use api::Spec;
pub(crate) use user::Op;

use crate::bucket::Claim;
use crate::testing;

pub(crate) type World = testing::World<Buckets>;
pub(crate) type Scenario = testing::Scenario<Op>;

/// The Bucket's name, and the id that a driver derives from it.
pub(crate) const NAME: &str = "bc-1";
/// A bucket that was at the backend before.
pub(crate) const EXISTING: &str = "old-bucket";

/// Buckets, and what only their world has.
#[derive(Debug)]
pub(crate) struct Buckets {
    claim: Claim,
    /// Somebody took the finalizer off at all.
    stripped: bool,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { claim: Claim::Live, stripped: false }
    }
}
