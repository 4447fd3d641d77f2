//! A schedule, for people.

use std::fmt;

use super::{Move, Schedule, Story};

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let story = match self.story {
            Story::Bucket => "a Bucket",
            Story::Access => "a BucketAccess",
        };
        write!(f, "seed {}: {story}, {} sidecar(s), driver: {}", self.seed, self.sidecars, self.driver)?;
        if !self.lag.is_zero() {
            write!(f, ", watches {:?} late", self.lag)?;
        }
        for (step, what) in &self.moves {
            write!(f, "\n  before step {step:2}: {what}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => write!(f, "{fault:?}"),
            Self::Act(act) => write!(f, "somebody: {act:?}"),
            Self::Lease(fault) => write!(f, "the next request about the Lease: {fault:?}"),
            Self::Watches(look) => write!(f, "all watches end; the next look: {look:?}"),
        }
    }
}
