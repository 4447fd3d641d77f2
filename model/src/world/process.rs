//! A sidecar process: its lease, what it is in the middle of, and its in-flight queue (R6).

use cosi_lifecycle::Rpc;

use super::{Call, Uid, View};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Who {
    A,
    B,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// It runs and waits for the lease. `fresh`: it was started a moment ago.
    Standby { fresh: bool },
    /// The lease is its own.
    Leader,
    /// The lease was its own. Running calls may end, and what was on its way may still arrive.
    Lapsed,
}

/// What it is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Idle,
    /// It read the object, and acts on that next.
    Looked(View),
    /// It has decided on a call and looked at its lease for the last time.
    Cleared {
        call: Call,
        will: bool,
    },
    /// It waits for the answer.
    Waiting,
}

/// Whether a Create or Grant was sent for the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Sent {
    /// Not known to this process: an intent found on the object is somebody else's.
    #[default]
    Unknown,
    /// The intent is its own and nothing was sent since.
    Nothing,
    /// Something may be at the backend.
    Maybe,
}

/// Calls that must not be sent yet (R3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Fence {
    #[default]
    Down,
    Up,
    /// This one may be sent all the same.
    UpExcept(Rpc),
}

impl Fence {
    pub(crate) fn holds(self, rpc: Rpc) -> bool {
        match self {
            Self::Down => false,
            Self::Up => true,
            Self::UpExcept(except) => except != rpc,
        }
    }
}

/// What a process knows of the name that is not in the API.
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Queue {
    /// The object that the rest is about; 0 for none.
    pub(crate) owner: Uid,
    /// The owner as it was last seen: policy Retain, deleting, the id in its status.
    pub(crate) retain: bool,
    pub(crate) deleting: bool,
    pub(crate) recorded: Option<u8>,
    pub(crate) sent: Sent,
    /// What was known before the last Create, for a sidecar that forgets refused ones.
    pub(crate) before: Sent,
    /// The id and key of an answer that is to be recorded.
    pub(crate) answer: Option<(u8, u8)>,
    /// Ids of own answers, and of acknowledged deletions, one bit each.
    pub(crate) ids: u8,
    pub(crate) deleted: u8,
    /// The backend is clean: the driver said so.
    pub(crate) gone: bool,
    /// This process itself got an unknown outcome of a Create or Grant.
    pub(crate) unknown: bool,
    /// A replay was refused for good: let go.
    pub(crate) hopeless: bool,
    /// The driver refused for good: nothing more until something changes.
    pub(crate) blocked: bool,
    /// A Grant was sent since the Secret was written.
    pub(crate) outdated: bool,
    /// The grace after a call of its own whose outcome is unknown.
    pub(crate) grace: Fence,
    /// A predecessor's calls may still be at work.
    pub(crate) succeeded: bool,
    /// The fence that this means for the name.
    pub(crate) inherited: Fence,
}

impl Queue {
    /// The owner is done with. The fences are about the name and stay.
    pub(crate) fn forget(&mut self) {
        let Self { grace, succeeded, inherited, .. } = *self;
        *self = Self { grace, succeeded, inherited, ..Self::default() };
    }

    pub(crate) fn may_be_there(&self) -> bool {
        !self.gone && (self.sent == Sent::Maybe || self.ids != 0)
    }

    /// Ids that are still to be deleted.
    pub(crate) fn remaining(&self) -> u8 {
        (self.ids | self.recorded.map_or(0, bit)) & !self.deleted
    }
}

/// The bit of an id or UID.
pub(crate) const fn bit(number: u8) -> u8 {
    1 << number
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) role: Role,
    pub(crate) phase: Phase,
    pub(crate) queue: Queue,
    /// The objects whose intent it saw or wrote, one bit each. Only the oracles look at it.
    pub(crate) knows: u8,
}

impl Process {
    pub(crate) fn started(fresh: bool) -> Self {
        Self { role: Role::Standby { fresh }, phase: Phase::Idle, queue: Queue::default(), knows: 0 }
    }
}
