//! What may be at the backend without being recorded in the API.

use std::sync::Arc;

/// What this process knows of one name at the backend. `O` is the owner, `A` a usable answer, `C` a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Backend<O, A, C> {
    /// The object that the rest is about, as last seen. Kept though the object may be gone: an undo needs nothing else.
    pub(crate) owner: Option<Arc<O>>,
    pub(crate) sent: Sent,
    /// A usable answer that is not in the API yet. It is recorded again and again, the driver not asked again (R7).
    pub(crate) answer: Option<A>,
    /// Every id that an own Create or Grant for this owner was answered with, usable or not; deletion goes by each of them.
    pub(crate) ids: Vec<Box<str>>,
    /// Ids whose deletion the driver acknowledged.
    pub(crate) deleted: Vec<Box<str>>,
    /// This process itself got an unknown outcome of a Create or Grant, so a refused replay proves nothing (R10 e).
    pub(crate) unknown: bool,
    /// A delete that the driver answered with NOT_FOUND once.
    pub(crate) not_found: Option<C>,
    /// The backend is clean: the driver said so.
    pub(crate) gone: bool,
    /// A call was repeated to learn the id, and answered.
    pub(crate) replayed: bool,
    /// Why our hold on the object may end though the backend could not be cleaned (R10 e).
    pub(crate) hopeless: Option<String>,
}

/// Whether a Create or Grant was sent for the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Not known to this process: an intent found on the object is somebody else's.
    #[default]
    Unknown,
    /// The intent is our own and nothing was sent since.
    Nothing,
    /// Something may be at the backend.
    Maybe,
}

impl<O, A, C> Default for Backend<O, A, C> {
    fn default() -> Self {
        Self {
            owner: None,
            sent: Sent::default(),
            answer: None,
            ids: Vec::new(),
            deleted: Vec::new(),
            unknown: false,
            not_found: None,
            gone: false,
            replayed: false,
            hopeless: None,
        }
    }
}

impl<O, A, C> Backend<O, A, C> {
    /// Whether something may be at the backend that is not recorded in the API.
    pub(crate) fn may_be_there(&self) -> bool {
        !self.gone && (self.sent == Sent::Maybe || !self.ids.is_empty())
    }

    /// A Create or Grant was answered with this id. It may have made again what was deleted before.
    pub(crate) fn learn(&mut self, id: &str) {
        self.deleted.retain(|deleted| deleted.as_ref() != id);
        if id.is_empty() {
            self.unknown = true;
        } else if !self.ids.iter().any(|known| known.as_ref() == id) {
            self.ids.push(id.into());
        }
    }

    /// The recorded id, then those of own answers, without those whose deletion was acknowledged.
    pub(crate) fn remaining<'a>(&'a self, recorded: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        let all = recorded.into_iter().chain(self.ids.iter().map(AsRef::as_ref));
        all.filter(|id| !self.deleted.iter().any(|deleted| deleted.as_ref() == *id))
    }

    /// The result is in the API; only ids that differ from the recorded one are still to be remembered.
    pub(crate) fn unrecorded_ids(&mut self, recorded: Option<&str>) -> Vec<Box<str>> {
        self.ids.drain(..).filter(|id| Some(id.as_ref()) != recorded).collect()
    }
}
