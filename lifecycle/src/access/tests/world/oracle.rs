//! The invariants of accesses, checked against the backend and the API server, not against the machine's word.

use std::sync::Arc;

use cosi_api::keys::s3;

use super::calls::access_key;
use super::{NAME, UNSEEN, World};
use crate::access::{AccessView, StatusWrite, Version};
use crate::inflight::Role;
use crate::testing::Invariant::{NoDouble, NoLoss, NoOrphan, NothingForeign, Progress, Truth};
use crate::testing::{Asked, Made};
use crate::{NoteReason, Uid};

impl World {
    /// The access with that UID, if there is one.
    fn access(&self, uid: &str) -> Option<AccessView> {
        self.api.object.as_ref().map(|o| o.view.clone()).filter(|v| *v.uid == *uid)
    }

    /// Before a request is sent.
    pub(super) fn check_permission(&mut self, asked: &Asked<'_>) {
        let owner = self.access(asked.by);
        let looked = self.looked.as_ref().filter(|l| l.uid == *asked.by);
        if looked.is_some_and(|l| l.handed_back) {
            self.violate(NoLoss, format!("{} for an access that the controller took back", asked.rpc));
        }
        let live = owner.as_ref().filter(|o| !o.deleting);
        match (asked.role, live) {
            (Role::Make, Some(access)) => self.check_grant(access),
            (Role::UndoById(_) | Role::UndoByName, Some(_)) => {
                self.violate(NoLoss, format!("{} though the access is alive", asked.rpc));
            }
            (Role::UndoById(_) | Role::UndoByName, None) => {
                let left =
                    self.secrets_of(asked.by).find(|(_, s)| s.view.finalizer && !(s.late && self.known.died));
                if let Some((name, _)) = left {
                    let text = format!("{} before Secret {name} is gone", asked.rpc);
                    self.violate(Truth, text);
                }
            }
            _ => {}
        }
    }

    fn check_grant(&mut self, access: &AccessView) {
        if access.ready {
            self.violate(NoDouble, "Grant while Ready".to_owned());
        }
        if access.cleanup_finished && self.looked.as_ref().is_some_and(|l| l.cleanup_finished) {
            self.violate(NoDouble, "Grant after cleanup-finished".to_owned());
        }
        let reserved = |name: &Arc<str>| {
            let secret = self.known.secrets.get(name).map(|s| &s.view);
            let owner = secret.filter(|s| !s.deleting).and_then(|s| s.owner.as_ref());
            owner.is_some_and(|o| o.uid == access.uid)
        };
        if !self.known.meddled && !access.wishes.iter().all(|wish| reserved(&wish.secret)) {
            self.violate(Truth, "Grant before all Secrets are reserved".to_owned());
        }
        if !self.known.shown {
            self.violate(Truth, "Grant though a Bucket is not as it should be".to_owned());
        }
    }

    fn secrets_of<'a>(&'a self, uid: &'a Uid) -> impl Iterator<Item = (&'a Arc<str>, &'a super::Secret)> {
        let of = move |s: &super::Secret| s.view.owner.as_ref().is_some_and(|o| o.uid == *uid);
        self.known.secrets.iter().filter(move |(_, s)| of(s))
    }

    /// Before a Secret is written, or `goes`.
    pub(super) fn check_secret(&mut self, meant: &Version, goes: bool) {
        let Some(secret) = self.known.secrets.get(&meant.place.name) else { return };
        let Some(owner) = secret.view.owner.clone().filter(|o| *o.name == *NAME) else {
            let text = format!("Secret {} of somebody else was touched", meant.place.name);
            return self.violate(NothingForeign, text);
        };
        if goes && self.access(&owner.uid).is_some_and(|a| a.ready) {
            self.violate(Truth, "a Secret goes while the access is Ready".to_owned());
        }
    }

    pub(super) fn check_released(&mut self, kept: bool) {
        if !kept {
            self.violate(NothingForeign, "a foreign finalizer was lost".to_owned());
        }
    }

    /// After a status was written.
    pub(super) fn check_record(&mut self, status: &StatusWrite) {
        let StatusWrite::Ready(id) = status else { return };
        if !self.backend.given.contains(id.as_str()) {
            self.violate(Truth, format!("{id} is none of the backend's ids"));
        }
        let Some(access) = self.api.object.as_ref().map(|o| o.view.clone()) else { return };
        if !self.known.meddled
            && !self.lost
            && let Err(why) = self.works(&access)
        {
            self.violate(Truth, format!("made Ready, but {why}"));
        }
    }

    /// Whether every Secret holds credentials that the backend takes.
    fn works(&self, access: &AccessView) -> Result<(), String> {
        let id = access.account_id.as_deref().unwrap_or_default();
        self.works_with(access, self.backend.things.get(id))
    }

    fn works_with(&self, access: &AccessView, account: Option<&Made>) -> Result<(), String> {
        let account = account.ok_or_else(|| "there is no account".to_owned())?;
        for (wish, accessed) in access.wishes.iter().zip(&access.accessed) {
            let name = &wish.secret;
            if self.known.jammed.is_some_and(|jammed| *jammed == **name) {
                continue;
            }
            let secret = self.known.secrets.get(name).ok_or_else(|| format!("{name} is missing"))?;
            let owner = secret.view.owner.as_ref();
            if owner.is_none_or(|o| o.uid != access.uid) || secret.view.deleting {
                return Err(format!("{name} is not its own"));
            }
            let value = |key: &str| secret.data.get(key).map_or("", String::as_str);
            if value(s3::BUCKET_ID) != accessed.id.as_ref() || value(s3::ENDPOINT).is_empty() {
                return Err(format!("{name} does not lead to its bucket"));
            }
            let works = |key: &u32| access_key(*key) == value(s3::ACCESS_KEY_ID);
            if access.service_account.is_none() && !account.keys.iter().any(works) {
                return Err(format!("the key in {name} does not work"));
            }
        }
        Ok(())
    }

    /// When all has settled.
    pub(super) fn judge_all(&mut self) {
        self.judge_backend();
        self.judge_secrets();
        self.judge_object();
        if !self.backend.doubled.is_empty() && !self.forced {
            self.violate(NoDouble, "there were two accounts at a time".to_owned());
        }
    }

    /// I1: every account has its live owner, or somebody was told.
    fn judge_backend(&mut self) {
        let made: Vec<_> =
            self.backend.things.iter().filter_map(|(id, m)| Some((id.clone(), m.by.clone()?))).collect();
        for (id, by) in made {
            let owned = self.access(&by).is_some_and(|o| {
                !(o.deleting && o.cleanup_finished)
                    && o.account_id.as_deref().is_none_or(|recorded| recorded == id)
            });
            let name = format!("ba-{by}");
            let let_go = self.api.gone.get(&by).is_some_and(|o| o.view.let_go)
                || !self.saw_unknown.contains(name.as_str());
            let told = self.notes.iter().any(|n| {
                n.about.uid == by
                    && (n.reason == NoteReason::NotFoundAtBackend
                        || (n.reason == NoteReason::LetGo && let_go))
            });
            if !(owned || told || self.forced) {
                self.violate(NoOrphan, format!("account {id} of {by} has no owner"));
            }
        }
    }

    /// I1, I4: no Secret with our finalizer outlives its access.
    fn judge_secrets(&mut self) {
        let alive = self.api.object.as_ref().map(|o| Arc::clone(&o.view.uid));
        let left = self.known.secrets.iter().find(|(_, s)| {
            // What an access left behind that nobody here ever saw is a manual step, until its name comes up again.
            let seen = |uid: &Uid| **uid != *UNSEEN && Some(uid) != alive.as_ref();
            let of_the_dead = s.view.owner.as_ref().is_some_and(|o| *o.name == *NAME && seen(&o.uid));
            of_the_dead && s.view.finalizer && !(s.late && self.known.died)
        });
        if let Some((name, _)) = left
            && !self.known.secrets_forgotten
        {
            let text = format!("Secret {name} is left");
            self.violate(NoOrphan, text);
        }
    }

    /// Why the access cannot be Ready now, if so.
    fn obstacle(&self, access: &AccessView) -> bool {
        let foreign = |name: &Arc<str>| {
            let secret = self.known.secrets.get(name).map(|s| &s.view);
            secret.is_some_and(|s| s.owner.is_none() || (s.deleting && !s.other_finalizers.is_empty()))
        };
        self.never_ready
            || self.known.terminating
            || self.known.jammed.is_some()
            || !self.known.buckets.is_empty()
            || access.accessed.is_empty()
            || access.wishes.iter().any(|wish| foreign(&wish.secret))
    }

    /// R8: a Secret that cannot be written holds up none of the others.
    fn judge_the_others(&mut self, access: &AccessView) {
        let jammed = self.known.jammed.unwrap_or_default();
        let kept = self.secrets_of(&access.uid).any(|(name, s)| **name != *jammed && s.view.finalizer);
        if access.deleting && kept {
            self.violate(Progress, "one Secret keeps another from being deleted".to_owned());
        }
        let account = self.backend.things.values().find(|made| made.by.as_ref() == Some(&access.uid));
        let reserved = self.secrets_of(&access.uid).count() == access.wishes.len();
        if !access.deleting
            && reserved
            && let Some(account) = account.filter(|made| !made.half)
            && let Err(why) = self.works_with(access, Some(account))
        {
            self.violate(Progress, format!("one Secret keeps another from being written: {why}"));
        }
    }

    /// I6: the desired state is reached.
    fn judge_object(&mut self) {
        let Some(access) = self.api.object.as_ref().map(|o| o.view.clone()) else { return };
        if !access.is_managed() {
            return;
        }
        if self.known.jammed.is_some() {
            return self.judge_the_others(&access);
        }
        if access.deleting {
            let blocked = self.never_ready && self.told(NoteReason::DeletionBlocked);
            if !blocked {
                self.violate(Progress, "the clean-up does not end".to_owned());
            }
            return;
        }
        if !access.ready && !self.obstacle(&access) {
            self.violate(Progress, "it does not get Ready".to_owned());
        }
        if access.ready
            && !self.lost
            && let Err(why) = self.works(&access)
        {
            self.violate(Truth, format!("it is Ready, but {why}"));
        }
        if !access.finalizer && !self.obstacle(&access) {
            self.violate(Progress, "the finalizer is missing".to_owned());
        }
        if access.cleanup_finished {
            self.violate(Progress, "it is said to be cleaned up, and is alive".to_owned());
        }
    }
}
