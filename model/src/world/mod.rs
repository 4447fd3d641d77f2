//! The state of the world: API server, sidecars, driver and backend.

mod backend;
mod object;
mod process;

pub(crate) use backend::{Backend, Call, Flight, Flights, Stage, Thing, Waiter};
pub(crate) use object::{Object, Secret, View};
pub(crate) use process::{Fence, Phase, Process, Queue, Role, Sent, Who, bit};

use crate::{Bounds, Budget, Invariant, Kind};

/// 1 for the first object, 2 for the one that is made again under its name.
pub(crate) type Uid = u8;

/// How an object ended, and what was done to it. Only the oracles look at it.
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Fate {
    /// A sidecar took its finalizer off.
    pub(crate) released: bool,
    /// Its policy was Retain then.
    pub(crate) retained: bool,
    /// It was let go (R10 e).
    pub(crate) let_go: bool,
    /// A deletion was acknowledged.
    pub(crate) acknowledged: bool,
    /// Its finalizer was taken by force while it was Ready.
    pub(crate) stripped_ready: bool,
    /// Its finalizer was taken by force, and no process that knew of it was there to the end.
    pub(crate) stripped_unseen: bool,
}

impl Fate {
    /// What becomes of it can't be known to a sidecar (I1's exceptions).
    pub(crate) const fn excused(self) -> bool {
        self.stripped_ready || self.stripped_unseen
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) object: Option<Object>,
    pub(crate) secret: Secret,
    pub(crate) backend: Backend,
    pub(crate) flights: Flights,
    pub(crate) a: Process,
    pub(crate) b: Process,
    pub(crate) lease: Option<Who>,
    /// What may still happen.
    pub(crate) left: Budget,
    pub(crate) first: Fate,
    pub(crate) second: Fate,
    /// Steps since the last trouble.
    pub(crate) steps: u8,
    /// Invariants that were broken, one bit each.
    pub(crate) broken: u8,
}

impl World {
    /// Nothing has happened, but that the user made the object and the sidecars run.
    pub(crate) fn new(bounds: &Bounds, retain: bool) -> Self {
        let access = bounds.kind == Kind::Access;
        let object = Object { ours: access, retain, ..Object::new(1) };
        Self {
            object: Some(object),
            secret: Secret::None,
            backend: Backend::new(bounds.foreign_bucket),
            flights: Flights::default(),
            a: Process::started(false),
            b: Process::started(false),
            lease: None,
            left: bounds.budget,
            first: Fate::default(),
            second: Fate::default(),
            steps: 0,
            broken: 0,
        }
    }

    pub(crate) const fn process(&self, who: Who) -> &Process {
        match who {
            Who::A => &self.a,
            Who::B => &self.b,
        }
    }

    pub(crate) const fn process_mut(&mut self, who: Who) -> &mut Process {
        match who {
            Who::A => &mut self.a,
            Who::B => &mut self.b,
        }
    }

    pub(crate) const fn fate(&self, uid: Uid) -> Fate {
        if uid == 1 { self.first } else { self.second }
    }

    pub(crate) const fn fate_mut(&mut self, uid: Uid) -> &mut Fate {
        if uid == 1 { &mut self.first } else { &mut self.second }
    }

    /// The object, if it is this one.
    pub(crate) fn object_of(&self, uid: Uid) -> Option<Object> {
        self.object.filter(|object| object.uid == uid)
    }

    /// What a look shows.
    pub(crate) const fn view(&self) -> View {
        View { object: self.object, secret: self.secret, stale: false }
    }

    /// The object or its Secret was written, by `writer` if it was a sidecar.
    pub(crate) fn written(&mut self, writer: Option<Who>) {
        for process in [&mut self.a, &mut self.b] {
            if let Phase::Looked(view) = &mut process.phase {
                view.stale = true;
            }
            process.queue.blocked &= writer.is_some();
        }
    }

    /// A deleting object without finalizers goes. If that is by force, its policy is the one that the leader saw last.
    pub(crate) fn collect(&mut self) {
        let Some(object) = self.object.filter(|o| o.deleting && !o.ours && !o.foreign) else { return };
        self.object = None;
        let leader = self.lease.map(|leader| self.process(leader).queue);
        let seen = leader.is_some_and(|queue| queue.owner == object.uid && queue.retain);
        let fate = self.fate_mut(object.uid);
        fate.retained |= !fate.released && (seen || object.retain);
    }

    pub(crate) const fn violate(&mut self, invariant: Invariant) {
        self.broken |= invariant.bit();
    }
}
