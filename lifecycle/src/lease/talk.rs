//! What the machine asks of the shell, and what the shell answers.

use super::{Found, Record, Stamp};
use crate::Time;

/// When something happened, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// On this process's own clock; all decisions go by this one.
    pub now: Time,
    /// On the wall clock, for the record.
    pub wall: Stamp,
}

/// One thing for the shell to do; its result comes back as an [`Event`].
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read the Lease live. Answer: [`Event::Read`], or [`Event::Stop`] instead.
    Read {
        /// An answer that comes later counts as none.
        by: Time,
    },
    /// Write the Lease. Answer: [`Event::Wrote`].
    Write {
        /// What.
        write: Write,
        /// An answer that comes later counts as none.
        by: Time,
    },
    /// Wait. Answer: [`Event::Timer`] at that time – or sooner, at least once per retry period, while nothing tells of
    /// changes –, [`Event::Seen`] or [`Event::Stop`] as they come.
    Wait(Time),
    /// It is over.
    End(End),
}

/// A write of the Lease. It changes the record and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Make it; there must be none.
    Create(Record),
    /// Change it, on condition of its resourceVersion.
    Update {
        /// The version that the decision was made on.
        version: Box<str>,
        /// What it says afterwards.
        record: Record,
    },
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// It was done; the Lease as the API server returned it.
    Done(Found),
    /// It was refused: there is another version, or, for a Create, there is one.
    Conflict,
    /// There is no Lease.
    NotFound,
    /// Nobody knows; or it was refused in another way.
    Unknown,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The election begins.
    Start,
    /// Answer to [`Effect::Read`]: the Lease, or that there is none; an error if it could not be read.
    Read(Result<Option<Found>, Unreadable>),
    /// Answer to [`Effect::Write`].
    Wrote(Written),
    /// The Lease changed, or went. It may have changed again since.
    Seen(Option<Found>),
    /// A wait is over.
    Timer,
    /// Everything that was begun has ended: give the Lease back if it is ours. To be said once.
    Stop,
}

/// The Lease could not be read. A person is told by the shell; the election only needs to know that it was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// Where this process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It waits for the Lease.
    Candidate {
        /// Who has it, as far as is known.
        holder: Option<&'a str>,
    },
    /// It has the Lease.
    Leading(Term),
    /// It may act no more: the Lease is being given back, or the election is over.
    Over,
}

/// A leader's term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// When it was known that the Lease was taken.
    pub since: Time,
    /// Until when the leader may begin something.
    pub act_until: Time,
    /// Until when nobody else can have the Lease.
    pub end: Time,
}

/// How an election ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The Lease was ours and is lost. What is running may end, nothing may begin.
    Lost(Loss),
    /// The Lease was given back; the next one can take it at once.
    Released,
    /// The Lease could not be given back; the next one must wait for its end.
    NotReleased,
    /// It was never ours.
    Withdrawn,
}

/// How a Lease was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// No renewal succeeded in time.
    #[error("it could not be renewed within --leader-election-renew-deadline")]
    NotRenewed,
    /// Somebody else has it.
    #[error("it is held by {by:?} now")]
    Taken {
        /// Who.
        by: Box<str>,
    },
    /// Somebody took the holder out.
    #[error("somebody emptied its holder")]
    Emptied,
    /// Somebody deleted it.
    #[error("somebody deleted it")]
    Deleted,
}
