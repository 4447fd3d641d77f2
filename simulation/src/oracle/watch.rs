//! What is judged the moment it happens.

use std::sync::Arc;

use cosi_sim::driver::{Call, Effect, Rpc};
use http::{Method, StatusCode};
use serde_json::Value;

use super::{Invariant, is_deleting, is_ready, text};
use crate::schedule::Story;
use crate::world::{Letter, World};

impl World {
    /// A call has arrived, and nothing was done yet.
    pub(crate) fn before_call(self: &Arc<Self>, call: &Call) {
        self.lock().facts.calls += 1;
        let object = self.object().filter(|object| self.is_for(call, object));
        let alive = object.as_deref().filter(|object| !is_deleting(object));
        match call.rpc {
            Rpc::Create | Rpc::Grant if alive.is_some_and(is_ready) => {
                self.violate(Invariant::NoDouble, format!("{:?} while Ready", call.rpc));
            }
            Rpc::Grant => self.check_reserved(),
            Rpc::Delete | Rpc::DeleteByName | Rpc::Revoke | Rpc::RevokeByName => {
                self.check_wanted(call, object.as_deref());
            }
            _ => {}
        }
    }

    /// Whether a call is about this very object. A Bucket's name is its claim's, whichever object bears it; an account's is made
    /// of the access's UID.
    fn is_for(&self, call: &Call, object: &Value) -> bool {
        self.schedule.story == Story::Bucket || call.name.ends_with(text(object, "/metadata/uid"))
    }

    /// I3: the owner wants it gone, or is gone.
    fn check_wanted(&self, call: &Call, object: Option<&Value>) {
        let Some(object) = object else { return };
        let (forced, flipped) = {
            let facts = &self.lock().facts;
            (facts.was_stripped(), facts.flipped)
        };
        // The finalizer is gone: what bears the name now may be another object, and the old one's rest goes first.
        if forced && text(object, "/metadata/finalizers/0").is_empty() {
            return;
        }
        if !is_deleting(object) {
            return self.violate(Invariant::NoLoss, format!("{:?} though the owner is alive", call.rpc));
        }
        if self.schedule.story == Story::Bucket
            && !flipped
            && text(object, "/spec/deletionPolicy") != "Delete"
        {
            self.violate(Invariant::NoLoss, format!("{:?} though the bucket is to be retained", call.rpc));
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
        if path.contains("/leases") || path.contains("/events") {
            return;
        }
        self.lock().facts.writes += 1;
        if path.contains("/secrets/")
            && letter.head.method == Method::DELETE
            && self.object().is_some_and(|access| is_ready(&access) && !is_deleting(&access))
            && !self.lock().facts.meddled
        {
            self.violate(Invariant::Truth, "a Secret goes while the access is Ready".to_owned());
        }
    }

    /// A sidecar's write was answered.
    pub(crate) fn after_write(&self, letter: &Letter, status: StatusCode) {
        let path = letter.head.uri.path();
        if !status.is_success() || !path.ends_with("/status") {
            return;
        }
        if let Some(object) = self.object().filter(|object| is_ready(object))
            && String::from_utf8_lossy(&letter.body).contains("\"readyToUse\":true")
            && let Err(why) = self.works(&object)
            && !self.lock().facts.meddled
        {
            self.violate(Invariant::Truth, format!("made Ready, but {why}"));
        }
    }
}
