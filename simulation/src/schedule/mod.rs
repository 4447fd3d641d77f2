//! What happens in a run: everything that is not the sidecar's own doing.

mod chance;
mod fault;
pub(crate) mod kind;
mod show;

use std::time::Duration;

pub use cosi_sim::driver::Busy;
pub(crate) use fault::SLOW;
pub use fault::{ApiFault, CallFault, Death, Fault};
pub use kind::DriverKind;

/// A run, before it is run. Two runs of one schedule are the same, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Jitter, names and uids come from it.
    pub seed: u64,
    /// What people want.
    pub story: Story,
    /// What the driver is like.
    pub driver: DriverKind,
    /// Two sidecars elect a leader; one alone needs no election.
    pub sidecars: usize,
    /// By how much every watch is late.
    pub lag: Duration,
    /// What goes wrong, and what people do, by the step before which it happens.
    pub moves: Vec<(u32, Move)>,
}

impl Schedule {
    /// Whether a process stands still in it.
    pub(crate) fn pauses(&self) -> bool {
        let pauses = |what: &Move| matches!(what, Move::Fault(Fault::Pause(_) | Fault::Freeze(_)));
        self.moves.iter().any(|(_, what)| pauses(what))
    }

    /// Whether the driver has the RPCs by name for as long as the run lasts.
    pub(crate) fn always_has_by_name(&self) -> bool {
        let replaced = Move::Fault(Fault::Call(CallFault::Replaced));
        self.driver.by_name && self.moves.iter().all(|(_, what)| *what != replaced)
    }
}

/// What people want. Each story begins with an object, and ends with its deletion when it was as it should be for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Story {
    /// A bucket.
    Bucket,
    /// Access to a bucket that is there.
    Access,
}

/// Something that happens before a step: a request of a sidecar to the API server, or a call that reaches the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// The step goes wrong: one way if it is a request to the API server, another if it is a call.
    Fault(Fault),
    /// Somebody does something.
    Act(Act),
    /// All watches end, and the next look begins so.
    Watches(Look),
    /// The next request about the leader's Lease goes wrong.
    Lease(ApiFault),
}

/// What somebody does to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Deletes it, as people and the controller do: the claim first.
    Delete,
    /// Deletes the Bucket, and its claim somewhat later.
    DeleteBeforeClaim,
    /// Takes the sidecar's finalizer off.
    Strip,
    /// Deletes it and takes off whatever holds it.
    DeleteByForce,
    /// Deletes the namespace of claims, accesses and Secrets, and everything in it.
    DeleteNamespace,
    /// Says that what is at the backend is a person's from now on, by the annotation that is honoured while the object is deleting.
    LetGo,
    /// Makes it again under the same name, if it is gone.
    Again,
    /// Makes it again, if it is gone, as it was in a backup: with our finalizer.
    Restore,
    /// Writes a label.
    Label,
    /// Changes the deletion policy of a Bucket to Retain.
    Retain,
    /// Changes it to Delete.
    DontRetain,
    /// Deletes the Secret of an access, whatever holds it.
    LoseSecret,
    /// Puts a Secret of somebody else's in its place.
    TakeSecret,
    /// Adds a finalizer that is none of ours, and takes it off when nothing else holds the object any more.
    Hold,
    /// Makes a bucket at the backend that has the id which the driver would choose, if it makes ids of names.
    Occupy,
    /// Takes the bucket away at the backend.
    Vanish,
    /// Stops the leader cleanly, or the only sidecar; another life of it begins.
    Stop,
    /// Lets no request of the leader's that is about its Lease through, until it gives up.
    CutOff,
}

/// How the next list or watch of each kind begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    /// As any other.
    Cut,
    /// The version is too old (410), as the API server says it: in an event.
    Gone,
    /// The same, said by the HTTP status, as something on the way may do.
    Refused,
    /// The list is one that was given out before: from a server that is behind.
    Stale,
    /// It fails with 503.
    Unavailable,
    /// Its connection breaks.
    Broken,
    /// As any other; but the watches do not end, their connections break.
    Torn,
}

impl Look {
    /// One of each.
    pub const ALL: [Self; 7] =
        [Self::Cut, Self::Gone, Self::Refused, Self::Stale, Self::Unavailable, Self::Broken, Self::Torn];
}
