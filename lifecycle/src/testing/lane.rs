//! One key in the shell: its machine, its entry in the index, and where its work stands.

use std::sync::Arc;

use super::kind::EffectOf;
use super::{Held, Kind};
use crate::{Time, Uid, Wake};

#[derive(Debug)]
pub(crate) struct Lane<K: Kind> {
    pub(crate) key: Uid,
    pub(crate) state: K::Machine,
    pub(crate) index: Option<Arc<K::View>>,
    /// The version up to which the watch was seen.
    pub(super) seen: u64,
    /// What an own write or a live read showed to be gone: what the watch tells of it then is old.
    gone: Option<Arc<K::View>>,
    pub(crate) wake: Wake,
    pub(super) predecessor_done: Time,
    pub(super) phase: Phase<EffectOf<K>>,
}

/// Where the shell is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Phase<E> {
    Run(E),
    /// Between passes; the next one at that time, if any.
    Idle(Option<Time>),
}

impl<K: Kind> Lane<K> {
    pub(super) fn new(key: Uid, predecessor_done: Time) -> Self {
        Self {
            key,
            state: K::Machine::default(),
            index: None,
            seen: 0,
            gone: None,
            wake: Wake::default(),
            predecessor_done,
            phase: Phase::Idle(None),
        }
    }

    /// Whether a pass is to begin at once.
    pub(super) fn is_woken(&self) -> bool {
        self.wake != Wake::default() && matches!(self.phase, Phase::Idle(_))
    }

    /// The watch has seen something.
    pub(super) fn see(&mut self, version: u64, view: Option<&Arc<K::View>>) {
        if version > self.seen {
            let view = view.filter(|v| K::key(Some(v)).as_ref() == Some(&self.key));
            if view.is_some_and(|view| self.knows_gone(view)) {
                return;
            }
            self.gone = self.gone.take().filter(|_| view.is_none());
            self.seen = version;
            self.wake.changed |= K::matters(self.index.as_deref(), view.map(Arc::as_ref));
            self.index = view.cloned();
        }
    }

    /// What a read or an own write returned (R5). That there is no object has no version: older events may follow.
    pub(super) fn fold(&mut self, version: u64, view: Option<Arc<K::View>>) {
        if version >= self.seen {
            self.seen = if view.is_some() { version } else { 0 };
            let before = std::mem::replace(&mut self.index, view);
            self.gone = if self.index.is_some() { None } else { before.or(self.gone.take()) };
        }
    }

    fn knows_gone(&self, view: &Arc<K::View>) -> bool {
        let version = |view: &Arc<K::View>| view.version().parse::<u64>().unwrap_or_default();
        self.gone.as_ref().is_some_and(|gone| gone.uid() == view.uid() || version(view) <= version(gone))
    }
}
