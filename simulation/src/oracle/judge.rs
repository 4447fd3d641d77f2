//! What is judged when all has settled.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use cosi_api::names::FINALIZER;
use cosi_sim::driver::{Call, Rpc};
use serde_json::Value;

use super::{Invariant, is_deleting, is_ready, text};
use crate::schedule::{ApiFault, Fault, Move, Story};
use crate::settings::GRACE;
use crate::world::World;

impl World {
    /// I6: the object is gone, or Ready and everything with it; nothing else is left.
    pub(crate) fn is_as_it_should_be(&self) -> bool {
        self.missing().is_none()
    }

    /// What is not as it should be, and which invariant it is that should have made it so.
    pub(crate) fn missing(&self) -> Option<(Invariant, String)> {
        let progress = |what: String| Some((Invariant::Progress, what));
        match self.object() {
            Some(object) if is_deleting(&object) && self.is_blocked(&object) => None,
            Some(object) if is_deleting(&object) => progress("the object does not go".to_owned()),
            Some(object) if self.is_hopeless() => is_ready(&object)
                .then(|| (Invariant::Truth, "it is Ready though its place is taken".to_owned())),
            Some(object) if !is_ready(&object) => {
                progress(format!("it does not get Ready: {}", text(&object, "/status/error/message")))
            }
            Some(object) => self.works(&object).err().map(|what| (Invariant::Truth, what)),
            None => self.orphan().map(|what| (Invariant::NoOrphan, what)),
        }
    }

    /// Whether somebody else has what the object would need: no sidecar can help that.
    fn is_hopeless(&self) -> bool {
        let facts = &self.lock().facts;
        match self.schedule.story {
            Story::Bucket => facts.foreign_bucket.is_some(),
            Story::Access => facts.foreign_secret.is_some(),
        }
    }

    /// R14: without the by-name RPC, a replayed Create that finds somebody else's bucket says nothing of an earlier one whose
    /// outcome is unknown. Only a person can say, and is told in the status.
    fn is_blocked(&self, object: &Value) -> bool {
        self.schedule.story == Story::Bucket
            && self.lock().facts.foreign_bucket.is_some()
            && !text(object, "/status/error/message").is_empty()
    }

    /// I5: whether what is Ready is there and works.
    pub(crate) fn works(&self, object: &Value) -> Result<(), String> {
        match self.schedule.story {
            Story::Bucket => {
                let id = text(object, "/status/bucketID");
                let bucket = self.driver.buckets().into_iter().find(|bucket| bucket.id == id);
                match bucket {
                    None if self.lock().facts.vanished => Ok(()),
                    Some(bucket) if bucket.half => Err(format!("{id} is half-made")),
                    Some(_) => Ok(()),
                    None => Err(format!("there is no bucket {id:?}")),
                }
            }
            Story::Access => {
                let id = text(object, "/status/accountID");
                if !self.driver.accounts().iter().any(|account| account.id == id) {
                    return Err(format!("there is no account {id:?}"));
                }
                let secret = self.stored_secret().ok_or("there is no Secret")?;
                let value = |key: &str| {
                    BASE64_STANDARD
                        .decode(text(&secret, &format!("/data/{key}")))
                        .ok()
                        .and_then(|bytes| String::from_utf8(bytes).ok())
                };
                let key = value("COSI_S3_ACCESS_KEY_ID").unwrap_or_default();
                let password = value("COSI_S3_ACCESS_SECRET_KEY").unwrap_or_default();
                if self.driver.key_works(&key, &password) || self.lock().facts.overtaken {
                    Ok(())
                } else {
                    Err("its key does not work".to_owned())
                }
            }
        }
    }

    /// I1: what is at the backend without an owner; excused is what nobody could know, or was told of.
    fn orphan(&self) -> Option<String> {
        if self.lock().facts.forced {
            return None;
        }
        self.left_at_the_backend().filter(|_| !self.is_excused()).or_else(|| self.left_secret())
    }

    fn left_at_the_backend(&self) -> Option<String> {
        let bucket = self.driver.buckets().into_iter().find(|bucket| !bucket.foreign);
        if let Some(bucket) = bucket {
            return Some(format!("bucket {} is left at the backend", bucket.id));
        }
        let account = self.driver.accounts().into_iter().next();
        account.map(|account| format!("account {} is left at the backend", account.id))
    }

    fn left_secret(&self) -> Option<String> {
        // A new process does not look for Secrets of accesses that it never saw: a documented step by hand.
        if self.lock().facts.was_intent_taken() {
            return None;
        }
        let secret = self.stored_secret().filter(|secret| {
            let theirs = self.lock().facts.foreign_secret.clone();
            theirs.is_none_or(|theirs| theirs.pointer("/metadata/uid") != secret.pointer("/metadata/uid"))
        })?;
        // Whoever knew that its creation may land later is dead: a documented limit.
        let lands_late = |what: &Move| {
            matches!(what, Move::Fault(Fault::Api(ApiFault::Later(_) | ApiFault::Slow(_)) | Fault::Freeze(_)))
        };
        if self.lock().facts.deaths > 0 && self.schedule.moves.iter().any(|(_, what)| lands_late(what)) {
            return None;
        }
        let ours = secret.pointer("/metadata/finalizers/0").is_some_and(|finalizer| finalizer == FINALIZER);
        ours.then(|| "a Secret is left with our finalizer".to_owned())
    }

    /// Retained, or let go: a person was told what to look after. Whoever saw an unknown outcome does not let go (R10).
    fn is_excused(&self) -> bool {
        let (retained, by_force, unknown, let_go) = {
            let facts = &self.lock().facts;
            (facts.retained, facts.retained_by_force, facts.unknown, facts.let_go)
        };
        let told = |reason: &str| match reason {
            "NotFoundAtBackend" => true,
            "LetGo" => let_go || !unknown,
            "Retained" => by_force,
            _ => false,
        };
        retained || self.lock().facts.told.iter().any(|reason| told(reason))
    }

    /// R3: a deletion by id that a predecessor may have begun holds up no second one.
    fn may_both_delete(&self, one: &Call, other: &Call) -> bool {
        let by_id = |call: &Call| matches!(call.rpc, Rpc::Delete | Rpc::Revoke);
        let callers = &self.lock().facts.callers;
        by_id(one) && by_id(other) && callers.get(&one.number) != callers.get(&other.number)
    }

    /// When everything is over.
    pub(crate) fn judge(&self) {
        let ledger = self.driver.ledger();
        // What was held up in a process that stood still arrives late and is refused by the driver; when it was sent, only that
        // process knows. And a new process waits for its predecessor's calls because of an intent, which people can take away.
        let nobody_knows = self.schedule.pauses() || self.lock().facts.was_intent_taken();
        if !nobody_knows
            && let Err(error) = ledger.grace_kept_but(GRACE, |one, other| self.may_both_delete(one, other))
        {
            self.violate(Invariant::Grace, error.to_string());
        }
        if self.schedule.sidecars == 1
            && let Err(error) = ledger.one_call_at_a_time()
        {
            self.violate(Invariant::OneAtATime, error.to_string());
        }
        if self.schedule.sidecars > 1
            && !nobody_knows
            && let Err(error) = ledger.overlaps_only_in_undoing()
        {
            self.violate(Invariant::OneAtATime, error.to_string());
        }
        // In a statement of its own: the lock would be held until the end of the `if`.
        let foreign = self.lock().facts.foreign_bucket.clone();
        if let Some(id) = foreign
            && !self.driver.buckets().iter().any(|bucket| bucket.foreign && bucket.id == id)
        {
            self.violate(Invariant::NothingForeign, format!("{id} is somebody else's, and gone"));
        }
    }
}
