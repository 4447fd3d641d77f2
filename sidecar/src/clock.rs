//! This process's own clock: `CLOCK_BOOTTIME`, which goes on while the machine sleeps (R15).

use std::time::Duration;

use cosi_lifecycle::Time;
use rustix::time::{ClockId, clock_gettime};

/// Time since boot.
#[must_use]
pub fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or_default(),
        u32::try_from(now.tv_nsec).unwrap_or_default(),
    )
}

/// Now, as the lifecycle counts it.
#[must_use]
pub fn now() -> Time {
    Time::at(since_boot())
}
