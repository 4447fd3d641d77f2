//! What a Lease says.

use std::time::Duration;

/// A moment on somebody's wall clock, in microseconds since 1970. It can be written and be found changed, and that is all:
/// clocks of machines differ, and jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(i64);

impl Stamp {
    /// The moment so many microseconds after 1970 began.
    #[must_use]
    pub const fn of_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }
}

/// The part of a Lease's spec that electors write. Everything else in a Lease is others' and stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Who holds the Lease; empty if nobody does.
    pub holder: Box<str>,
    /// How many seconds the holder may be silent; 0 if the record does not say.
    pub seconds: i32,
    /// When the holder took it.
    pub acquired: Option<Stamp>,
    /// When the holder renewed it last.
    pub renewed: Option<Stamp>,
    /// How often the holder changed.
    pub transitions: i32,
}

/// Longer than any elector could mean. It is also the longest that the sidecar's flags allow.
pub(super) const LONGEST: Duration = Duration::from_hours(30 * 24);

impl Record {
    /// How long the holder may be silent. Where the record names no time that can be meant, `usual` counts.
    pub(super) fn patience(&self, usual: Duration) -> Duration {
        let named = u64::try_from(self.seconds).map(Duration::from_secs).unwrap_or_default();
        if named.is_zero() || named > LONGEST { usual } else { named }
    }
}

/// A Lease as it was read, or as a write returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it says.
    pub record: Record,
    /// Its resourceVersion.
    pub version: Box<str>,
}
