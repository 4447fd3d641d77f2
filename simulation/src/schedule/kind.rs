//! What drivers are like.

use std::fmt;

use cosi_sim::driver::{Abilities, Busy, Ids, Keys};

use crate::bugs::{Bug, is};

/// What ids begin with that are made of names.
pub(crate) const ID_PREFIX: &str = "id-";

/// A kind of driver, as a combination of what matters to the sidecar.
#[allow(clippy::struct_excessive_bools, reason = "independent traits")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DriverKind {
    /// Ids are made of names; else the backend chooses them.
    pub derived: bool,
    /// It has the by-name RPCs.
    pub by_name: bool,
    /// What it does with a call for a name for which another one is at work.
    pub busy: Busy,
    /// Each Grant makes a new key and voids the old one.
    pub rotates: bool,
    /// It says NOT_FOUND of what is not there; else OK.
    pub not_found: bool,
}

impl DriverKind {
    /// The best one.
    pub const GOOD: Self =
        Self { derived: true, by_name: true, busy: Busy::Wait, rotates: false, not_found: false };

    /// Drivers of each class that the sidecar can tell apart.
    pub const ALL: [Self; 7] = [
        Self::GOOD,
        Self { by_name: false, ..Self::GOOD },
        Self { derived: false, rotates: true, ..Self::GOOD },
        Self { derived: false, by_name: false, rotates: true, ..Self::GOOD },
        Self { busy: Busy::Abort, rotates: true, not_found: true, ..Self::GOOD },
        Self { derived: false, by_name: false, busy: Busy::Abort, not_found: true, ..Self::GOOD },
        Self { derived: false, busy: Busy::Overlap, rotates: true, ..Self::GOOD },
    ];

    pub(crate) fn abilities(self, name: &str) -> Abilities {
        Abilities {
            name: name.to_owned(),
            by_name: self.by_name,
            ids: match (self.derived, self.busy) {
                (true, _) => Ids::Derived(ID_PREFIX.to_owned()),
                (false, Busy::Overlap) => Ids::OpaqueRacy,
                (false, _) => Ids::Opaque,
            },
            busy: self.busy,
            keys: if self.rotates { Keys::Rotating } else { Keys::Same },
            not_found_when_absent: self.not_found,
            honours_not_after: !is(Bug::LateCallIsDone),
            takes_foreign: is(Bug::DriverTakesForeign),
            ..Abilities::default()
        }
    }
}

impl fmt::Display for DriverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.derived { "derived ids" } else { "opaque ids" })?;
        f.write_str(if self.by_name { ", by-name RPCs" } else { ", no by-name RPCs" })?;
        f.write_str(match self.busy {
            Busy::Wait => ", serialises",
            Busy::Abort => ", aborts",
            Busy::Overlap => ", lets calls overlap",
        })?;
        f.write_str(if self.rotates { ", rotates keys" } else { ", keeps keys" })?;
        f.write_str(if self.not_found { ", NOT_FOUND" } else { "" })
    }
}
