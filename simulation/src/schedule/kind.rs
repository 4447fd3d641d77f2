//! What drivers are like.

use std::fmt;

use cosi_sim::driver::{Abilities, Busy, Ids, Keys};

/// A kind of driver, as a combination of what matters to the sidecar.
#[allow(clippy::struct_excessive_bools, reason = "independent traits")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DriverKind {
    /// Ids are made of names; else the backend chooses them.
    pub derived: bool,
    /// It has the by-name RPCs.
    pub by_name: bool,
    /// A call waits until the one before it for the same name is done; else it is refused with ABORTED.
    pub waits: bool,
    /// Each Grant makes a new key and voids the old one.
    pub rotates: bool,
    /// It says NOT_FOUND of what is not there; else OK.
    pub not_found: bool,
}

impl DriverKind {
    /// The best one.
    pub const GOOD: Self =
        Self { derived: true, by_name: true, waits: true, rotates: false, not_found: false };

    /// Drivers of each class that the sidecar can tell apart.
    pub const ALL: [Self; 6] = [
        Self::GOOD,
        Self { by_name: false, ..Self::GOOD },
        Self { derived: false, rotates: true, ..Self::GOOD },
        Self { derived: false, by_name: false, rotates: true, ..Self::GOOD },
        Self { waits: false, rotates: true, not_found: true, ..Self::GOOD },
        Self { derived: false, by_name: false, waits: false, not_found: true, ..Self::GOOD },
    ];

    pub(crate) fn abilities(self, name: &str) -> Abilities {
        Abilities {
            name: name.to_owned(),
            by_name: self.by_name,
            ids: if self.derived { Ids::Derived("id-".to_owned()) } else { Ids::Opaque },
            busy: if self.waits { Busy::Wait } else { Busy::Abort },
            keys: if self.rotates { Keys::Rotating } else { Keys::Same },
            not_found_when_absent: self.not_found,
            honours_not_after: true,
            ..Abilities::default()
        }
    }
}

impl fmt::Display for DriverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.derived { "derived ids" } else { "opaque ids" })?;
        f.write_str(if self.by_name { ", by-name RPCs" } else { ", no by-name RPCs" })?;
        f.write_str(if self.waits { ", waits" } else { ", aborts" })?;
        f.write_str(if self.rotates { ", rotates keys" } else { ", keeps keys" })?;
        f.write_str(if self.not_found { ", NOT_FOUND" } else { "" })
    }
}
