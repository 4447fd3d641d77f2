//! The driver's append-only memory: what arrived, what it did at the backend, how it ended.

use std::fmt;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tonic::Code;

use super::call::{Call, Rpc, brief};
use crate::lock;

/// A change at the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A bucket or an account is there now.
    Made {
        /// Its id.
        id: String,
        /// The name it was made for.
        name: String,
        /// Whether only half of the work was done.
        half: bool,
    },
    /// The missing half was done.
    Completed {
        /// Its id.
        id: String,
    },
    /// A bucket or an account is gone.
    Deleted {
        /// Its id.
        id: String,
        /// The name it was made for; empty for a foreign one.
        name: String,
    },
    /// A key works from now on.
    KeyMade {
        /// The access key id, not the secret.
        key: String,
    },
    /// A key stopped working.
    KeyVoided {
        /// The access key id, not the secret.
        key: String,
    },
}

/// How a call ended for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With an answer; the code may be above 16.
    Answered {
        /// The gRPC code.
        code: i32,
        /// The message of an error.
        message: String,
    },
    /// Without one: the client gave up, or the connection broke.
    Gone,
}

impl End {
    /// Whether the answer was OK.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        matches!(self, Self::Answered { code: 0, .. })
    }

    /// Whether the client can't know that the call is over (R3, *unknown*); ABORTED included.
    #[must_use]
    pub fn is_unknown(&self, rpc: Rpc) -> bool {
        let Self::Answered { code, .. } = self else { return true };
        match Code::from_i32(*code) {
            Code::Ok
            | Code::InvalidArgument
            | Code::AlreadyExists
            | Code::Unimplemented
            | Code::NotFound
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::FailedPrecondition => false,
            Code::OutOfRange => rpc != Rpc::Grant,
            _ => true,
        }
    }
}

/// One line of the ledger.
#[derive(Clone, Debug)]
pub enum Event {
    /// A call came in.
    Arrived(Call),
    /// A call changed something at the backend.
    Did {
        /// The call's number.
        call: usize,
        /// The change.
        effect: Effect,
    },
    /// A call is over for its client; the driver may still be at work on it.
    Ended {
        /// The call's number.
        call: usize,
        /// How.
        end: End,
    },
    /// Something that no call did: the process ended or began, the test meddled with the backend.
    Note(String),
}

/// A copy of the ledger: events with their times since the driver was made. Display prints it line by line.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// In order of time.
    pub events: Vec<(Duration, Event)>,
}

impl Ledger {
    /// All calls in order of arrival.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Arrived(call) => Some(call),
            _ => None,
        })
    }

    /// When and how the call ended, if it did.
    #[must_use]
    pub fn end_of(&self, number: usize) -> Option<(Duration, &End)> {
        self.events.iter().find_map(|(at, event)| match event {
            Event::Ended { call, end } if *call == number => Some((*at, end)),
            _ => None,
        })
    }

    /// What the call did, when.
    pub fn effects_of(&self, number: usize) -> impl Iterator<Item = (Duration, &Effect)> {
        self.events.iter().filter_map(move |(at, event)| match event {
            Event::Did { call, effect } if *call == number => Some((*at, effect)),
            _ => None,
        })
    }

    /// Only the lines about this name (or id).
    #[must_use]
    pub fn only(&self, name: &str) -> Self {
        let numbers: Vec<usize> =
            self.calls().filter(|c| c.name == name || c.id == name).map(|c| c.number).collect();
        let about = |event: &Event| match event {
            Event::Arrived(Call { number, .. }) => numbers.contains(number),
            Event::Did { call, .. } | Event::Ended { call, .. } => numbers.contains(call),
            Event::Note(_) => true,
        };
        Self { events: self.events.iter().filter(|(_, event)| about(event)).cloned().collect() }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arrived(call) => write!(f, "{call}"),
            Self::Did { call, effect } => write!(f, "#{call}   {effect:?}"),
            Self::Ended { call, end: End::Gone } => {
                write!(f, "#{call}   no answer: client or connection gone")
            }
            Self::Ended { call, end: End::Answered { code, message } } => {
                let code =
                    if *code > 16 { format!("code {code}") } else { format!("{:?}", Code::from_i32(*code)) };
                write!(f, "#{call}   answered {code} {}", brief(message))
            }
            Self::Note(what) => write!(f, "-- {what}"),
        }
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events.iter().try_for_each(|(at, event)| writeln!(f, "{:9.3}s  {event}", at.as_secs_f64()))
    }
}

/// The ledger being written.
pub(super) struct Recorder {
    start: Instant,
    events: Mutex<Vec<(Duration, Event)>>,
    /// Counts the events.
    pub(super) changes: watch::Sender<u64>,
    /// Is told of each event.
    witness: OnceLock<Witness>,
}

/// Is told of each event as it is written down.
pub(super) type Witness = Box<dyn Fn(&Event) + Send + Sync>;

impl Recorder {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            events: Mutex::default(),
            changes: watch::Sender::new(0),
            witness: OnceLock::new(),
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// There is one witness at most: the first stays.
    pub(super) fn testify_to(&self, witness: Witness) {
        let _ = self.witness.set(witness);
    }

    pub(super) fn write(&self, event: Event) {
        if let Some(witness) = self.witness.get() {
            witness(&event);
        }
        {
            // The clock is read under the lock, so that the order is that of the times.
            let mut events = lock(&self.events);
            let now = self.now();
            events.push((now, event));
        }
        self.changes.send_modify(|changes| *changes += 1);
    }

    pub(super) fn note(&self, what: impl Into<String>) {
        self.write(Event::Note(what.into()));
    }

    pub(super) fn count(&self, which: impl Fn(&Call) -> bool) -> usize {
        let wanted = |(_, event): &&(Duration, Event)| matches!(event, Event::Arrived(call) if which(call));
        lock(&self.events).iter().filter(wanted).count()
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger { events: lock(&self.events).clone() }
    }
}
