//! What is judged the moment it happens.

use std::sync::Arc;

use cosi_api::names::{FINALIZER, SIDECAR_LET_GO};
use cosi_sim::driver::{Call, Effect, End, Rpc};
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::time::Instant;

use super::{Invariant, bears, is_deleting, is_marked, is_ready, text};
use crate::Sort;
use crate::bugs::{Bug, is};
use crate::logs::holds_a_credential;
use crate::schedule::{Move, Story};
use crate::settings::RECHECK;
use crate::world::{HOLD, Letter, World, host};

impl World {
    /// A call has arrived, and nothing was done yet.
    pub(crate) fn before_call(self: &Arc<Self>, call: &Call) {
        self.lock().facts.calls += 1;
        if self.comes_too_late(call) {
            return;
        }
        let object = self.object().filter(|object| self.is_for(call, object));
        let alive = object.as_deref().filter(|object| !is_deleting(object));
        match call.rpc {
            Rpc::Create | Rpc::Grant if alive.is_some_and(is_ready) => {
                self.violate(Invariant::NoDouble, format!("{:?} while Ready", call.rpc));
            }
            Rpc::Create | Rpc::Grant if alive.is_none() && self.is_over(call) => {
                self.violate(Invariant::NoDouble, format!("{:?} after an acknowledged deletion", call.rpc));
            }
            // A replay for an access that is gone undoes, and needs no Secret.
            Rpc::Grant if object.is_some() => self.check_reserved(),
            Rpc::Delete | Rpc::DeleteByName | Rpc::Revoke | Rpc::RevokeByName => {
                self.lock().facts.deletions.insert(call.number, (call.rpc, call.name.clone()));
                self.check_wanted(call, object.as_deref());
            }
            _ => {}
        }
    }

    /// I2: whether the deletion of what a call makes was acknowledged. Where no deletion by name helps, a new process must replay
    /// what its predecessor has undone (R10 e).
    fn is_over(&self, call: &Call) -> bool {
        let facts = &self.lock().facts;
        facts.acknowledged.get(&call.name).is_some_and(|process| {
            (self.schedule.always_has_by_name() && !facts.replays)
                || (facts.deaths == 0 && *process == facts.caller)
        })
    }

    /// A call is over for its client.
    pub(crate) fn after_call(&self, call: usize, end: &End) {
        let Some((rpc, name)) = self.lock().facts.deletions.remove(&call) else { return };
        if !end.is_ok() {
            self.lock().facts.replays |= matches!(rpc, Rpc::DeleteByName | Rpc::RevokeByName);
            return;
        }
        // What an older object of that name left may go while a newer one lives (R12).
        if self.object().is_none_or(|object| is_deleting(&object)) {
            let facts = &mut self.lock().facts;
            facts.acknowledged.insert(name, facts.caller);
        }
    }

    /// R15: the driver refuses it, whatever it is.
    fn comes_too_late(&self, call: &Call) -> bool {
        !is(Bug::LateCallIsDone) && call.not_after_ns.is_some_and(|latest| latest < self.boot_nanos())
    }

    /// Whether a call is about this very object. A Bucket's name is its claim's, whichever object bears it; an account's is made
    /// of the access's UID.
    fn is_for(&self, call: &Call, object: &Value) -> bool {
        self.schedule.story == Story::Bucket || call.name.ends_with(text(object, "/metadata/uid"))
    }

    /// I3: the owner wants it gone, or is gone.
    fn check_wanted(&self, call: &Call, object: Option<&Value>) {
        let Some(object) = object else {
            if self.object().is_none() && self.lock().facts.kept {
                let what = format!("{:?} though what is gone was to be retained", call.rpc);
                self.violate(Invariant::NoLoss, what);
            }
            return;
        };
        let (forced, flipped) = {
            let facts = &self.lock().facts;
            (facts.was_stripped(), facts.flipped)
        };
        // The finalizer is gone: what bears the name now may be another object, and the old one's rest goes first.
        if forced && text(object, "/metadata/finalizers/0").is_empty() {
            return;
        }
        // R14. Between two looks at a process that stands still, a person may say so.
        if is_marked(object, SIDECAR_LET_GO) && is_deleting(object) && !self.schedule.pauses() {
            self.violate(
                Invariant::NoLoss,
                format!("{:?} though a person took it upon themselves", call.rpc),
            );
        }
        if !is_deleting(object) {
            return self.violate(Invariant::NoLoss, format!("{:?} though the owner is alive", call.rpc));
        }
        // Between the live read and the call no time passes, unless the process stands still (R4).
        let just_now = flipped.is_some_and(|at| at == Instant::now()) || self.schedule.pauses();
        if self.schedule.story == Story::Bucket
            && !just_now
            && text(object, "/spec/deletionPolicy") != "Delete"
        {
            self.violate(Invariant::NoLoss, format!("{:?} though the bucket is to be retained", call.rpc));
        }
        if self.schedule.story == Story::Bucket && self.claim_stays(object) {
            self.violate(Invariant::NoLoss, format!("{:?} though the claim stays", call.rpc));
        }
    }

    /// I5: the Secret is there before the credentials are made.
    fn check_reserved(&self) {
        if self.lock().facts.meddled {
            return;
        }
        let Some(access) = self.object() else { return };
        if is_deleting(&access) {
            return;
        }
        let owner =
            self.stored_secret().map(|secret| text(&secret, "/metadata/ownerReferences/0/uid").to_owned());
        if owner.as_deref() != Some(text(&access, "/metadata/uid")) {
            self.violate(Invariant::Truth, "Grant before the Secret is reserved".to_owned());
        }
    }

    /// The driver changed its backend.
    pub(crate) fn after_effect(&self, effect: &Effect) {
        self.lock().facts.made |= matches!(effect, Effect::Made { .. });
        let Effect::Deleted { id, .. } = effect else { return };
        let forced = self.lock().facts.was_stripped();
        let alive = self.object().filter(|object| !is_deleting(object) && is_ready(object));
        let recorded = |object: &Value| {
            text(object, "/status/bucketID") == id || text(object, "/status/accountID") == id
        };
        if !forced && alive.is_some_and(|object| recorded(&object)) {
            self.violate(Invariant::NoLoss, format!("{id} was deleted while its owner is Ready"));
        }
    }

    /// A sidecar's write has arrived, and nothing was done yet.
    pub(crate) fn before_write(&self, letter: &Letter) {
        let path = letter.head.uri.path();
        // I7. Secrets are where credentials belong.
        if !path.contains("/secrets") && holds_a_credential(&letter.body) {
            self.violate(Invariant::Secrecy, "a credential is written to what is no Secret".to_owned());
        }
        if letter.is_beside_the_work() {
            return;
        }
        let before = self.object();
        let usable = before.as_ref().is_some_and(|object| is_ready(object));
        let meddled = {
            let facts = &mut self.lock().facts;
            facts.writes += 1;
            facts.before = before;
            facts.meddled
        };
        if path.contains("/secrets/") && letter.head.method == Method::DELETE && usable && !meddled {
            self.violate(Invariant::Truth, "a Secret goes while the access is Ready".to_owned());
        }
    }

    /// Whether a Bucket was just let go, and what was to become of what it left.
    fn note_release(&self) {
        let ours = |object: &Value| bears(object, FINALIZER);
        let Some(before) = self.lock().facts.before.take().filter(|before| ours(before)) else { return };
        if text(&before, "/spec/deletionPolicy") == "Retain" && !self.object().is_some_and(|now| ours(&now)) {
            self.lock().facts.retained = true;
        }
    }

    /// I4: what is others' is as it was.
    fn check_others(&self) {
        let (held, theirs) = {
            let facts = &self.lock().facts;
            (facts.held.clone(), facts.foreign_secret.clone())
        };
        if let Some(uid) = held {
            let object = self.object().filter(|object| text(object, "/metadata/uid") == uid);
            if !object.is_some_and(|object| bears(&object, HOLD)) {
                self.violate(Invariant::NothingForeign, "a finalizer of somebody else's is lost".to_owned());
                self.lock().facts.held = None;
            }
        }
        if let Some(theirs) = theirs
            && self.stored_secret().as_ref() != Some(&theirs)
        {
            self.violate(Invariant::NothingForeign, "a Secret of somebody else's was changed".to_owned());
            self.lock().facts.foreign_secret = None;
        }
    }

    /// R16: an error that is known is not written again, but for the slow re-check. What a fault or a new process costs is
    /// counted against the schedule.
    fn check_report(&self, letter: &Letter) {
        let written = serde_json::from_slice::<Value>(&letter.body).unwrap_or_default();
        let error = text(&written, "/status/error/message").to_owned();
        let faults = self.schedule.moves.iter().filter(|(_, what)| matches!(what, Move::Fault(_))).count();
        let excused = u32::try_from(faults).unwrap_or(u32::MAX);
        let repeated = {
            let facts = &mut self.lock().facts;
            let before = facts.reported.take().filter(|_| !error.is_empty());
            if before.is_some_and(|(before, at)| before == error && at.elapsed() < RECHECK) {
                facts.repeated += 1;
            }
            facts.reported = (!error.is_empty()).then(|| (error, Instant::now()));
            facts.repeated
        };
        if repeated == excused + self.lock().facts.deaths + 1 {
            self.violate(Invariant::Thrift, format!("the same error was written again {repeated} times"));
        }
    }

    /// R15: nobody writes while somebody else holds the Lease.
    pub(crate) fn before_request(&self, process: usize, sort: Sort) {
        if self.schedule.sidecars == 1 || sort != Sort::Write {
            return;
        }
        let holder = self.leader().filter(|holder| !holder.is_empty());
        if let Some(holder) = holder
            && !holder.starts_with(&host(process))
        {
            self.violate(Invariant::Lease, format!("sidecar {process} writes while {holder} leads"));
        }
    }

    /// A sidecar's write was answered.
    pub(crate) fn after_write(&self, letter: &Letter, status: StatusCode) {
        if letter.is_about_an_event()
            && (status.is_success() || matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND))
        {
            let event = serde_json::from_slice::<Value>(&letter.body).unwrap_or_default();
            self.lock().facts.told.insert(text(&event, "/reason").to_owned());
        }
        if !status.is_success() {
            return;
        }
        self.note_release();
        self.check_others();
        if !letter.is_about_a_status() {
            return;
        }
        self.check_report(letter);
        let made_ready = String::from_utf8_lossy(&letter.body).contains("\"readyToUse\":true");
        let Some(object) = self.object().filter(|object| made_ready && is_ready(object)) else { return };
        if !bears(&object, FINALIZER) {
            self.violate(Invariant::Truth, "made Ready without our finalizer (R7)".to_owned());
        }
        if let Err(why) = self.works(&object)
            && !self.lock().facts.meddled
        {
            self.violate(Invariant::Truth, format!("made Ready, but {why}"));
        }
    }
}
