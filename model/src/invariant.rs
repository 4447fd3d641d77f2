//! What must hold.

use std::fmt;

/// An invariant of the lifecycle's design record. I7 (secrecy) and I9 (thrift) are not about the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// I1: when all has settled, each thing at the backend has its owner, or was retained or let go.
    NoOrphan,
    /// I2: one thing per object at a time; none is made after Ready or after the deletion was acknowledged.
    NoDouble,
    /// I3: nothing is deleted that its owner wants kept.
    NoLoss,
    /// I4: what others made stays, their finalizers too.
    NothingForeign,
    /// I5: Ready is said of what is there, with keys that work.
    Truth,
    /// I6: without further trouble the desired state is reached.
    Progress,
    /// I8: one call per name at a time, counted at the driver.
    OneAtATime,
    /// No invariant of the protocol: the model had no room for one more call or id, so that not all was visited.
    Room,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NoOrphan,
        Self::NoDouble,
        Self::NoLoss,
        Self::NothingForeign,
        Self::Truth,
        Self::Progress,
        Self::OneAtATime,
        Self::Room,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NoOrphan => "I1 no orphan",
            Self::NoDouble => "I2 no double",
            Self::NoLoss => "I3 no loss",
            Self::NothingForeign => "I4 nothing foreign",
            Self::Truth => "I5 truth",
            Self::Progress => "I6 progress",
            Self::OneAtATime => "I8 one at a time",
            Self::Room => "room in the model",
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
