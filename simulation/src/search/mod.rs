//! Looking for schedules that break an invariant.

mod chance;
mod report;
mod sweep;

pub use chance::{Found, search};
pub use report::report;
pub use sweep::{calm, pairs, singles};
