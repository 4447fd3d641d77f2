//! The work: a keyed queue, workers, and the one place where effects happen.

mod effects;
mod machines;
mod predecessor;
mod queue;
mod watching;
mod worker;

pub use effects::{AccessEffects, BucketEffects, Effects, Parties};
pub use machines::{Lifecycle, Machines};
pub use predecessor::Predecessor;
pub use queue::{Next, Queue, Taken};
pub use worker::{Defect, Workers};
