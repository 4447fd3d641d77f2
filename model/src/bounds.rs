//! How large the world is, which driver stands in it, and which rule is switched off.

use std::fmt;

use crate::{Invariant, Rule};

/// What the object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Bucket: Create, Delete, DeleteByName.
    Bucket,
    /// A BucketAccess with one Secret: Grant, Revoke, RevokeByName. Each Grant makes a new key, which voids the older one.
    Access,
}

/// Which calls a driver refuses when they come after `cosi-not-after-ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAfter {
    /// Each one, as the SDK does.
    Every,
    /// Those that make something, as the protocol demands.
    Making,
    /// None: it does not know the key.
    Ignored,
}

/// What kind of driver it is.
#[allow(clippy::struct_excessive_bools, reason = "independent traits of drivers")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The backend chooses the ids; else the id follows from the name.
    pub opaque: bool,
    /// It has the optional RPC that deletes by name.
    pub by_name: bool,
    /// It answers ABORTED while a call for the name is at work, which may be for longer than the grace. Else calls overlap, and
    /// each ends within the grace.
    pub serialises: bool,
    /// What it refuses as too late.
    pub not_after: NotAfter,
    /// A defect: its deletion by name takes a bucket that its Create refuses as somebody else's.
    pub takes_foreign: bool,
}

impl Driver {
    /// A driver of the SDK with ids that follow from the name.
    pub const SDK: Self = Self {
        opaque: false,
        by_name: true,
        serialises: false,
        not_after: NotAfter::Every,
        takes_foreign: false,
    };

    /// Every driver without defects, with this habit about late calls.
    #[must_use]
    pub fn all(not_after: NotAfter) -> Vec<Self> {
        let flags = [false, true];
        let pairs = flags.iter().flat_map(|opaque| flags.map(|by_name| (*opaque, by_name)));
        pairs
            .flat_map(|(opaque, by_name)| {
                flags.map(|serialises| Self { opaque, by_name, serialises, not_after, ..Self::SDK })
            })
            .collect()
    }
}

/// How often each kind of trouble may come in one life of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// A sidecar dies and is started again.
    pub crashes: u8,
    /// A leader's term ends while it is paused or cut off, and it wakes later.
    pub lapses: u8,
    /// A driver call goes wrong: no answer, an error though it is still at work, the answer lost, refused half done, refused.
    pub calls: u8,
    /// The answer to an API write is lost.
    pub writes: u8,
    /// The user deletes the object.
    pub deletes: u8,
    /// Somebody takes our finalizer off. With a deletion before or after it, this is a deletion by force.
    pub strips: u8,
    /// An object with the same name is made again, with or without our finalizer on it.
    pub recreates: u8,
    /// The deletion policy is changed.
    pub flips: u8,
    /// Somebody puts a finalizer of their own on the object, and takes it off at will.
    pub holds: u8,
    /// Somebody deletes the access's Secret.
    pub lost_secrets: u8,
}

/// One bounded world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// What the object owns.
    pub kind: Kind,
    /// The driver.
    pub driver: Driver,
    /// Two sidecars instead of one.
    pub standby: bool,
    /// A leader can be paused between its last look at the lease and its request to the driver or the API server. Else what it
    /// sends arrives before the lease can be taken; that is what the last part of a term is for.
    pub pauses: bool,
    /// A bucket that is none of ours bears the name already.
    pub foreign_bucket: bool,
    /// What may happen.
    pub budget: Budget,
    /// The rule that is switched off.
    pub without: Option<Rule>,
    /// The only invariant to look at; without one, all.
    pub only: Option<Invariant>,
    /// After how many steps without any trouble all must have settled (I6).
    pub patience: u8,
    /// How many threads search.
    pub threads: usize,
}

impl Bounds {
    /// One sidecar, one Bucket, a driver of the SDK, and nothing that happens.
    pub const QUIET: Self = Self {
        kind: Kind::Bucket,
        driver: Driver::SDK,
        standby: false,
        pauses: true,
        foreign_bucket: false,
        budget: Budget {
            crashes: 0,
            lapses: 0,
            calls: 0,
            writes: 0,
            deletes: 0,
            strips: 0,
            recreates: 0,
            flips: 0,
            holds: 0,
            lost_secrets: 0,
        },
        without: None,
        only: None,
        patience: 60,
        threads: 2,
    };

    /// The same world with another driver.
    #[must_use]
    pub const fn with(self, driver: Driver) -> Self {
        Self { driver, ..self }
    }

    pub(crate) fn follows(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = if self.opaque { "opaque ids" } else { "ids from names" };
        let by_name = if self.by_name { "deletes by name" } else { "deletes by id only" };
        let overlap = if self.serialises { "serialises" } else { "lets calls overlap" };
        let late = match self.not_after {
            NotAfter::Every => "refuses what is late",
            NotAfter::Making => "refuses what is late and makes something",
            NotAfter::Ignored => "takes what is late",
        };
        let foreign = if self.takes_foreign { ", takes what is foreign" } else { "" };
        write!(f, "{ids}, {by_name}, {overlap}, {late}{foreign}")
    }
}

impl fmt::Display for Budget {
    /// Only what can happen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            ("crashes", self.crashes),
            ("lapses", self.lapses),
            ("calls", self.calls),
            ("writes", self.writes),
            ("deletes", self.deletes),
            ("strips", self.strips),
            ("recreates", self.recreates),
            ("flips", self.flips),
            ("holds", self.holds),
            ("lost secrets", self.lost_secrets),
        ];
        let some: Vec<_> =
            all.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
        f.write_str(&some.join(", "))
    }
}

impl fmt::Display for Bounds {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sidecars = if self.standby { "two sidecars" } else { "one sidecar" };
        let pauses = if self.standby && !self.pauses { " without pauses" } else { "" };
        let foreign = if self.foreign_bucket { ", a foreign bucket" } else { "" };
        write!(f, "{:?}, {sidecars}{pauses}{foreign}; driver: {}; {}", self.kind, self.driver, self.budget)?;
        self.without.map_or(Ok(()), |rule| write!(f, "; without {rule:?}"))
    }
}
