//! What people and the controller do.

use super::api::fill;
use super::{Filled, NAME, Reachable, Spec, UNSEEN, World};
use crate::access::Owner;
use crate::inflight::Sent;
use crate::testing::{FOREIGN_FINALIZER, Held as _};
use crate::{Code, Rpc};

/// Something that somebody does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Create(Spec),
    /// The controller fills in the status, or a part of it.
    HandOver(Filled),
    /// Sets the deletionTimestamp.
    Delete,
    /// Takes the finalizer off.
    Strip,
    /// Takes all finalizers off a deleting access.
    Force,
    LetGo,
    /// The controller takes the access back, or gives it again.
    TakeBack(bool),
    /// Somebody says that the clean-up is finished.
    Finish,
    WipeStatus,
    Touch,
    HoldByOthers,
    ReleaseOthers,
    DeleteSecret(&'static str),
    /// It is deleted, and somebody else makes one of that name.
    TakeSecret(&'static str),
    /// Whoever made one deletes it again.
    FreeSecret(&'static str),
    /// One of its values is emptied.
    EmptySecret(&'static str),
    /// Our finalizer is taken off it.
    StripSecret(&'static str),
    /// Somebody else puts a finalizer on it, or takes it off.
    HoldSecret(&'static str, bool),
    /// From now on the API server refuses to write it, or does so again.
    JamSecret(&'static str, bool),
    /// A Secret of an access that had this name is still there.
    Leftover(&'static str),
    /// The namespace goes, and all that is in it.
    NamespaceGoes,
    /// A Bucket changes; `None` makes it what it should be.
    Bucket(&'static str, Option<Reachable>),
    /// The driver is replaced by one with or without the by-name RPC.
    Driver {
        by_name: bool,
    },
    /// From now on the driver answers this RPC with that code, or does its work again.
    Refuse(Option<(Rpc, Code)>),
    /// The account is deleted at the backend by hand.
    LoseBackend,
}

impl World {
    pub(super) fn do_as(&mut self, op: &Op) {
        match op {
            Op::Create(spec) => {
                if self.api.object.is_none() {
                    self.api.create(*spec);
                }
            }
            Op::HandOver(filled) => drop(self.api.change(|o| fill(&mut o.view, *filled))),
            Op::Delete => {
                if self.api.object.as_ref().is_some_and(|o| !o.view.ours() && o.view.others().is_empty()) {
                    self.note_force();
                }
                self.api.change(|o| o.view.deleting = true);
            }
            Op::Strip | Op::Force => self.strip(matches!(op, Op::Force)),
            Op::LetGo => drop(self.api.change(|o| o.view.let_go = true)),
            Op::TakeBack(taken) => drop(self.api.change(|o| o.view.handed_back = *taken)),
            Op::Finish => drop(self.api.change(|o| o.view.cleanup_finished = !o.view.deleting)),
            Op::WipeStatus => self.wipe_status(),
            Op::Touch => drop(self.api.change(|o| o.labels += 1)),
            Op::HoldByOthers => drop(self.api.change(|o| {
                if !o.view.deleting {
                    o.view.other_finalizers = [FOREIGN_FINALIZER.into()].into();
                }
            })),
            Op::ReleaseOthers => drop(self.api.change(|o| o.view.other_finalizers = [].into())),
            Op::NamespaceGoes => {
                self.known.terminating = true;
                self.meddle();
                let all: Vec<_> = self.known.secrets.keys().cloned().collect();
                for name in all {
                    self.change_secret(&name, |s| s.view.begin_deletion());
                }
                self.api.change(|o| o.view.deleting = true);
            }
            Op::Bucket(name, state) => {
                match state {
                    Some(state) => self.known.buckets.insert((*name).into(), *state),
                    None => self.known.buckets.remove(*name),
                };
                self.refused = true;
                for lane in &mut self.lanes {
                    lane.wake.prerequisite = true;
                }
            }
            Op::Driver { by_name } => self.connect(*by_name),
            Op::Refuse(refusal) => self.backend.refuses = *refusal,
            Op::LoseBackend => {
                self.lost = true;
                self.backend.things.clear();
            }
            op => self.touch_secret(op),
        }
    }

    fn touch_secret(&mut self, op: &Op) {
        self.meddle();
        match op {
            Op::DeleteSecret(name) => {
                self.change_secret(name, |s| s.view.begin_deletion());
            }
            Op::TakeSecret(name) => self.put_secret(name, None, false),
            Op::FreeSecret(name) => {
                self.known.secrets.retain(|other, s| **other != **name || s.view.owner.is_some());
            }
            Op::EmptySecret(name) => {
                self.change_secret(name, |s| {
                    s.data.insert(cosi_api::keys::s3::ACCESS_KEY_ID.to_owned(), String::new());
                });
            }
            Op::StripSecret(name) => {
                self.change_secret(name, |s| s.view.finalizer = false);
            }
            Op::HoldSecret(name, true) => {
                self.change_secret(name, |s| {
                    if !s.view.deleting {
                        s.view.other_finalizers = [FOREIGN_FINALIZER.into()].into();
                    }
                });
            }
            Op::HoldSecret(name, false) => {
                self.change_secret(name, |s| s.view.other_finalizers = [].into());
            }
            Op::JamSecret(name, jammed) => self.known.jammed = jammed.then_some(*name),
            Op::Leftover(name) => {
                let owner = Owner { name: NAME.into(), uid: UNSEEN.into() };
                self.put_secret(name, Some(owner), false);
            }
            _ => {}
        }
    }

    /// What was reserved or written need not be there any more, and is looked at with the slow re-check only.
    fn meddle(&mut self) {
        self.known.meddled = true;
        self.refused = true;
    }

    fn wipe_status(&mut self) {
        self.note_force();
        self.api.change(|o| {
            o.view.ready = false;
            o.view.account_id = None;
            o.view.driver = None;
            o.view.authentication = None;
            o.view.parameters = None;
            o.view.accessed = [].into();
        });
    }

    fn strip(&mut self, all: bool) {
        let goes = all || self.api.object.as_ref().is_some_and(|o| o.view.deleting);
        if goes {
            self.note_force();
        }
        self.api.change(|o| {
            o.view.finalizer = false;
            if all {
                o.view.deleting = true;
                o.view.other_finalizers = [].into();
            }
        });
    }

    /// The account of an access that this process knows nothing of, or that was Ready when it was last seen, is left if the
    /// access goes without having been deleted first.
    fn note_force(&mut self) {
        let Some(object) = self.api.object.as_ref().map(|o| o.view.clone()) else { return };
        let lane = self.lanes.iter().find(|lane| lane.key == object.uid);
        let backend = lane.map(|lane| &lane.state.backend);
        let owner = backend.and_then(|b| b.owner.as_ref());
        let seen_going = owner.is_some_and(|o| o.deleting || !o.ready && o.account_id.is_some());
        let known = backend.is_some_and(|b| b.may_be_there() || b.sent == Sent::Nothing);
        let recorded = object.account_id.is_some();
        self.forced |= match (object.ready, recorded) {
            (true, _) => !seen_going,
            (false, true) => !seen_going && !known,
            (false, false) => !known,
        };
        // Nothing of the access has been seen, so nobody looks after its Secrets either.
        self.known.secrets_forgotten |= owner.is_none();
    }
}
