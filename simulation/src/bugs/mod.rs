//! Seeded bugs (lifecycle.md §6): each switches one rule off, so that it can be seen that the search finds what that breaks.
//!
//! Most wrap the lifecycle's step, between the machine and its shell: they show it other objects than there are, tell it
//! something else than what came of its last effect, or do something else than what it asks for. The others sit where the
//! fault is: in the way to the API server, in the flags, in the driver.

mod access;
mod bucket;
mod conditions;
mod seam;

use std::cell::Cell;
use std::fmt;

use cosi_lifecycle::Time;
use cosi_lifecycle::access::AccessState;
use cosi_lifecycle::bucket::BucketState;
use cosi_sidecar::work::Machines;

pub(crate) use conditions::loosened;
pub(crate) use seam::Bugged;

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bug {
    /// R1: the finalizer is not written before the first call.
    NoIntent,
    /// R3: no grace; a repeat or a delete follows at once.
    NoGrace,
    /// R3: INTERNAL counts as refused.
    InternalIsRefused,
    /// R3: no answer counts as refused.
    TimeoutIsRefused,
    /// R3: a new process does not wait for its predecessor's calls.
    NoPredecessor,
    /// R15: a new leader counts from the start of its process, not from when it took the Lease.
    CountsFromStart,
    /// R4: a live read is served from what the watch told.
    CacheForLiveRead,
    /// R4: the watch still tells of an object whose deletion the driver has acknowledged, and it is believed.
    CreateFromStaleCache,
    /// R6: what was refused is taken as not done.
    RefusedIsForgotten,
    /// R6: the queue is forgotten when the status cannot be written.
    ForgetOnFailedWrite,
    /// R7: the status is written without a condition.
    UnconditionedStatus,
    /// R7: the finalizer is written without a condition.
    UnconditionedFinalizer,
    /// R7: the client library repeats refused writes by itself; they land minutes later.
    LibraryRetries,
    /// R8: the finalizer goes when a Create failed.
    ReleaseOnFailedCreate,
    /// R9: a Ready bucket that vanished at the backend is made again.
    RecreateVanished,
    /// R10 d, e: no id is recorded, so nothing is there.
    NothingWithoutId,
    /// R10: the finalizer is taken off after a conflict without a new decision.
    StubbornRemoval,
    /// R10 e: let go although this process saw an unknown outcome.
    LetGoThoughUnknown,
    /// R12: what is known of an object goes with the object.
    ForgetTheGone,
    /// R12: what an object left is deleted although another one has taken it over.
    DisinheritTheHeir,
    /// R15: both processes act.
    ActWithoutLease,
    /// R15: the driver does a call that comes after `cosi-not-after-ns`.
    LateCallIsDone,
    /// R16: the status is written on every try.
    ReportEveryTry,
    /// I4: the driver's delete-by-name removes what its Create refuses with ALREADY_EXISTS.
    DriverTakesForeign,
    /// Accesses: Secrets of the right name are taken as its own.
    AdoptSecrets,
    /// Accesses: Grant before the Secret is reserved.
    GrantUnreserved,
    /// I7: the answer to a Grant is logged with Debug.
    PrintCredentials,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 27] = [
        Self::NoIntent,
        Self::NoGrace,
        Self::InternalIsRefused,
        Self::TimeoutIsRefused,
        Self::NoPredecessor,
        Self::CountsFromStart,
        Self::CacheForLiveRead,
        Self::CreateFromStaleCache,
        Self::RefusedIsForgotten,
        Self::ForgetOnFailedWrite,
        Self::UnconditionedStatus,
        Self::UnconditionedFinalizer,
        Self::LibraryRetries,
        Self::ReleaseOnFailedCreate,
        Self::RecreateVanished,
        Self::NothingWithoutId,
        Self::StubbornRemoval,
        Self::LetGoThoughUnknown,
        Self::ForgetTheGone,
        Self::DisinheritTheHeir,
        Self::ActWithoutLease,
        Self::LateCallIsDone,
        Self::ReportEveryTry,
        Self::DriverTakesForeign,
        Self::AdoptSecrets,
        Self::GrantUnreserved,
        Self::PrintCredentials,
    ];

    /// What is wrong, for people.
    #[must_use]
    pub const fn wrong(self) -> &'static str {
        match self {
            Self::NoIntent => "the intent is not written",
            Self::NoGrace => "repeat or delete before the grace is over",
            Self::InternalIsRefused => "INTERNAL is taken as refused",
            Self::TimeoutIsRefused => "a timeout is taken as refused",
            Self::NoPredecessor => "a new process does not wait for its predecessor's calls",
            Self::CountsFromStart => "a new leader counts from its start, not from when it took the Lease",
            Self::CacheForLiveRead => "a live read is served from the watch",
            Self::CreateFromStaleCache => "made again from a stale cache after the deletion",
            Self::RefusedIsForgotten => "what was refused is taken as not done",
            Self::ForgetOnFailedWrite => "the queue is forgotten when the status cannot be written",
            Self::UnconditionedStatus => "the status is written without resourceVersion",
            Self::UnconditionedFinalizer => "the finalizer is written without resourceVersion",
            Self::LibraryRetries => "the client library repeats writes by itself",
            Self::ReleaseOnFailedCreate => "the finalizer goes when Create failed",
            Self::RecreateVanished => "a Ready bucket that vanished is made again",
            Self::NothingWithoutId => "the finalizer goes when no id is recorded",
            Self::StubbornRemoval => "the finalizer goes after a conflict without a new decision",
            Self::LetGoThoughUnknown => "let go although this process saw an unknown outcome",
            Self::ForgetTheGone => "what is known of an object goes with the object",
            Self::DisinheritTheHeir => "an heir's bucket is deleted as the old object's rest",
            Self::ActWithoutLease => "both processes act",
            Self::LateCallIsDone => "a call that comes after its leader's lease is done",
            Self::ReportEveryTry => "the status is written on every try",
            Self::DriverTakesForeign => "delete-by-name removes what Create refuses",
            Self::AdoptSecrets => "Secrets of others are taken as own",
            Self::GrantUnreserved => "Grant before the Secret is reserved",
            Self::PrintCredentials => "a Grant's answer is printed",
        }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wrong())
    }
}

thread_local! {
    /// Machines are made by the shell, which knows of no bugs; a run has its thread to itself.
    static SEEDED: Cell<Option<Bug>> = const { Cell::new(None) };
    /// When the process that takes the next step was started.
    static STARTED: Cell<Time> = Cell::new(Time::default());
    /// Whether a Ready bucket vanished at the backend. A sidecar that looks for that (R9) would know.
    static VANISHED: Cell<bool> = const { Cell::new(false) };
}

/// Seeds a bug, or none, for what runs on this thread until it is dropped.
pub(crate) struct Seeded(());

impl Seeded {
    pub(crate) fn new(bug: Option<Bug>) -> Self {
        SEEDED.set(bug);
        VANISHED.set(false);
        Self(())
    }
}

impl Drop for Seeded {
    fn drop(&mut self) {
        SEEDED.set(None);
    }
}

/// The bug of this run.
pub(crate) fn seeded() -> Option<Bug> {
    SEEDED.get()
}

/// Whether it is this one.
pub(crate) fn is(bug: Bug) -> bool {
    seeded() == Some(bug)
}

/// A process that was started then takes a step.
pub(crate) fn steps(started: Time) {
    STARTED.set(started);
}

/// A Ready bucket vanished at the backend.
pub(crate) fn vanished() {
    VANISHED.set(true);
}

/// The lifecycle's machines, with the run's bug between them and the shell.
pub(crate) struct Wrapped;

impl Machines for Wrapped {
    type Bucket = Bugged<BucketState>;
    type Access = Bugged<AccessState>;
}
