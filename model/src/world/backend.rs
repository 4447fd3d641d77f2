//! The backend, the driver's memory of ids and keys, and the calls on their way.

use cosi_lifecycle::Rpc;

use super::{Uid, Who};

/// How many ids the backend can give.
const IDS: usize = 6;
/// How many calls can be on their way.
const FLIGHTS: usize = 4;

/// A bucket or account that a call of ours made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thing {
    /// For which object it was last made or found.
    pub(crate) by: Uid,
    /// The key that works.
    pub(crate) key: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Backend {
    /// What is there, by id.
    things: [Option<Thing>; IDS],
    /// The next id that the backend would choose.
    pub(crate) next_id: u8,
    pub(crate) next_key: u8,
    /// A bucket of that name is there that we did not make.
    pub(crate) foreign: bool,
}

impl Backend {
    pub(crate) fn new(foreign: bool) -> Self {
        Self { foreign, ..Self::default() }
    }

    pub(crate) fn things(&self) -> impl Iterator<Item = (u8, Thing)> + '_ {
        (0..).zip(self.things).filter_map(|(id, thing)| Some((id, thing?)))
    }

    pub(crate) fn thing(&self, id: u8) -> Option<Thing> {
        self.things.get(usize::from(id)).copied().flatten()
    }

    /// Puts a thing there; false if the model has no room for the id.
    pub(crate) fn put(&mut self, id: u8, thing: Thing) -> bool {
        self.things.get_mut(usize::from(id)).map(|place| *place = Some(thing)).is_some()
    }

    pub(crate) fn take(&mut self, id: u8) -> Option<Thing> {
        self.things.get_mut(usize::from(id))?.take()
    }
}

/// A request to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Call {
    pub(crate) rpc: Rpc,
    /// For which object.
    pub(crate) uid: Uid,
    /// The id to delete by.
    pub(crate) id: u8,
    /// A Create or Grant that is only to tell the id (R10 e).
    pub(crate) replay: bool,
}

impl Call {
    pub(crate) const fn makes(self) -> bool {
        matches!(self.rpc, Rpc::CreateBucket | Rpc::GrantBucketAccess)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stage {
    /// On its way to the driver.
    Transit,
    /// At work. What it makes has this id and key.
    Working { id: u8, key: u8 },
}

/// Who waits for a call's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Waiter {
    /// Its sender.
    Sender,
    /// Nobody: the sender gave it up, and knows of it.
    Nobody,
    /// Nobody: the sender is dead, or was replaced.
    Orphaned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Flight {
    pub(crate) call: Call,
    pub(crate) stage: Stage,
    pub(crate) sender: Who,
    pub(crate) waiter: Waiter,
    /// The sender's lease ended before it arrived.
    pub(crate) expired: bool,
    /// It was sent after the sender's lease had ended, so no successor's wait covers it.
    pub(crate) late: bool,
    /// It is the last will of a leader that lost its lease, and bears no limit (R15).
    pub(crate) will: bool,
}

/// The calls on their way, in an order of their own, so that equal worlds look equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Flights([Option<Flight>; FLIGHTS]);

impl Flights {
    pub(crate) fn all(&self) -> impl Iterator<Item = Flight> + '_ {
        self.0.iter().flatten().copied()
    }

    /// Each with its number.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (u8, Flight)> + '_ {
        (0..).zip(self.0).filter_map(|(number, flight)| Some((number, flight?)))
    }

    pub(crate) fn get(&self, number: u8) -> Option<Flight> {
        self.0.get(usize::from(number)).copied().flatten()
    }

    /// False if the model has no room for it.
    pub(crate) fn add(&mut self, flight: Flight) -> bool {
        let place = self.0.iter_mut().find(|place| place.is_none());
        let added = place.map(|place| *place = Some(flight)).is_some();
        self.0.sort_unstable();
        added
    }

    pub(crate) fn remove(&mut self, number: u8) {
        if let Some(place) = self.0.get_mut(usize::from(number)) {
            *place = None;
        }
        self.0.sort_unstable();
    }

    pub(crate) fn change(&mut self, number: u8, change: impl FnOnce(&mut Flight)) {
        if let Some(flight) = self.0.get_mut(usize::from(number)).and_then(Option::as_mut) {
            change(flight);
        }
        self.0.sort_unstable();
    }

    pub(crate) fn change_all(&mut self, change: impl FnMut(&mut Flight)) {
        self.0.iter_mut().flatten().for_each(change);
        self.0.sort_unstable();
    }
}
