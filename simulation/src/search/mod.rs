//! Looking for schedules that break an invariant.

mod chance;
mod report;
mod shrink;
mod sweep;

pub use chance::{Caught, ENOUGH, Found, catch, search, search_and_tell};
pub use report::{Report, report};
pub use shrink::shrink;
pub use sweep::{calm, distinct, pairs, singles};
