//! The machine's notion of time.

use std::ops::Add;
use std::time::Duration;

/// A point on this process's own clock, as the shell read it; never another machine's (R15).
///
/// The origin is arbitrary. The shell uses `CLOCK_BOOTTIME`, which goes on while the machine is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Duration);

impl Time {
    /// The point `since_origin` after the clock's origin.
    #[must_use]
    pub const fn at(since_origin: Duration) -> Self {
        Self(since_origin)
    }

    /// How long after the clock's origin it is.
    #[must_use]
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// How long it is until `later`; zero if that has passed.
    #[must_use]
    pub fn until(self, later: Self) -> Duration {
        later.0.saturating_sub(self.0)
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs))
    }
}
