//! What the machines of all kinds have in common, for a shell that runs them.

use std::fmt;
use std::sync::Arc;

use crate::{Context, Time};

/// A machine: events in, effects out, one at a time.
pub trait Machine: Default {
    /// The object as it was last read.
    type View;
    /// What happened: the result of the last effect, or a new beginning.
    type Event: From<Wake>;
    /// One thing for the shell to do.
    type Effect: Request;

    /// Folds in what happened and says what to do next.
    ///
    /// `view` is the object as last read, with own writes folded in, or `None` if there is none that is ours.
    ///
    /// # Errors
    ///
    /// [`Impossible`] if the event does not answer the last effect; nothing has changed then.
    fn step(
        &mut self,
        view: Option<&Arc<Self::View>>,
        event: Self::Event,
        ctx: &Context<'_>,
    ) -> Result<Self::Effect, Impossible>;

    /// Whether there is nothing to remember. The shell drops an empty state.
    fn is_empty(&self) -> bool;

    /// Whether the state knows the object that it is about, and so will see by itself what becomes of it.
    fn follows_an_object(&self) -> bool;
}

/// What a shell must know of an effect without knowing its kind.
pub trait Request {
    /// The pass ends with it.
    fn ends_pass(&self) -> Option<Rest>;

    /// It begins something: while the process stops, results are still recorded, but nothing new is begun for an object that is
    /// there.
    fn begins_something(&self) -> bool;
}

/// How long a name rests between two passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Until that time, or sooner when something changes.
    Until(Time),
    /// Until something changes.
    UntilWoken,
}

/// Why a pass begins. Without any of these, a wait is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// The object changed so that work can depend on it: a backoff is over (R11, C22).
    pub changed: bool,
    /// There is a new driver connection: what waited for the driver, or was refused by the previous one, is tried again.
    pub connected: bool,
    /// Something changed that the object's work waits for: a Bucket that an access is to reach.
    pub prerequisite: bool,
}

impl Wake {
    /// The object changed.
    pub const CHANGED: Self = Self { changed: true, connected: false, prerequisite: false };
    /// There is a new driver connection.
    pub const CONNECTED: Self = Self { changed: false, connected: true, prerequisite: false };
    /// Something changed that the object's work waits for.
    pub const PREREQUISITE: Self = Self { changed: false, connected: false, prerequisite: true };

    /// Both reasons.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            changed: self.changed || other.changed,
            connected: self.connected || other.connected,
            prerequisite: self.prerequisite || other.prerequisite,
        }
    }
}

/// An event that cannot follow the last effect: a defect of the shell. The state is as before.
#[derive(Debug, thiserror::Error)]
#[error("event {event} cannot follow {awaiting}")]
pub struct Impossible {
    event: String,
    awaiting: String,
}

impl Impossible {
    /// Names the variants only: an event's content may be long, and is not to be printed (I7).
    pub(crate) fn new(event: &impl fmt::Debug, awaiting: &impl fmt::Debug) -> Self {
        Self { event: variant(event), awaiting: variant(awaiting) }
    }
}

fn variant(value: &impl fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}
