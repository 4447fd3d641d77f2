//! The work: a keyed queue, workers, and the one place where effects happen.

mod effects;
mod queue;
mod worker;

pub use effects::Effects;
pub use queue::{Next, Queue, Taken};
pub use worker::{Defect, Workers};
