//! What people do, and the controller.

use std::sync::Arc;
use std::time::Duration;

use cosi_api::names::{FINALIZER, SIDECAR_CLEANUP_FINISHED, SIDECAR_LET_GO};
use http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::objects::{BUCKET, HOLD};
use super::{Objects, World};
use crate::oracle::{bears, finalizers, finalizers_but, is_deleting, is_marked, is_ready, text};
use crate::schedule::kind::ID_PREFIX;
use crate::schedule::{Act, Move, Story};
use crate::trace::Who;

/// How long a claim outlives the deletion of its Bucket, where it does.
const CLAIM_LATER: Duration = Duration::from_secs(3);

impl World {
    /// The object of the story.
    pub(crate) fn path(&self) -> String {
        match self.schedule.story {
            Story::Bucket => Objects::bucket(),
            Story::Access => Objects::access(),
        }
    }

    pub(crate) fn object(&self) -> Option<Arc<Value>> {
        self.stored(self.schedule.story)
    }

    /// The story begins.
    pub(crate) fn make(&self) {
        self.make_with(&[]);
    }

    /// An access always has the controller's finalizer.
    fn make_with(&self, finalizers: &[&str]) {
        self.tell(Who::Somebody, format_args!("makes the object"));
        self.lock().facts.acknowledged.clear();
        match self.schedule.story {
            Story::Bucket => self.make_bucket(finalizers),
            Story::Access => self.make_access(),
        }
    }

    pub(crate) fn act(self: &Arc<Self>, act: Act) {
        self.tell(Who::Somebody, format_args!("{act:?}"));
        match act {
            Act::Delete => self.delete(),
            Act::DeleteBeforeClaim => {
                self.ask(Method::DELETE, &self.path(), &Value::Null);
                let world = Arc::clone(self);
                tokio::spawn(async move {
                    sleep(CLAIM_LATER).await;
                    world.disturb();
                    world.claim_goes();
                });
            }
            Act::Strip => self.strip(),
            Act::DeleteByForce => {
                self.delete();
                self.strip();
            }
            Act::DeleteNamespace => self.delete_namespace(),
            Act::LetGo => {
                let mark = json!({ "metadata": { "annotations": { SIDECAR_LET_GO: "" } } });
                let marked = self.patch(&self.path(), &mark).is_some();
                self.lock().facts.let_go |= marked;
            }
            Act::Again => {
                if self.object().is_none() {
                    self.make();
                }
            }
            Act::Restore => {
                if self.object().is_none() {
                    self.make_with(&[FINALIZER]);
                }
            }
            Act::Label => {
                let steps = self.lock().steps.to_string();
                self.patch(&self.path(), &json!({ "metadata": { "labels": { "touched": steps } } }));
            }
            Act::Retain => self.set_policy("Retain"),
            Act::DontRetain => self.set_policy("Delete"),
            Act::LoseSecret => self.lose_secret(),
            Act::TakeSecret => {
                self.lose_secret();
                let secret = self.make_foreign_secret();
                self.lock().facts.foreign_secret = secret;
            }
            Act::Hold => self.hold_object(),
            Act::Occupy => self.occupy(),
            Act::Vanish => self.vanish(),
            Act::Stop => self.stop_leader(),
            Act::CutOff => self.cut_off_leader(),
        }
    }

    /// As people do.
    pub(crate) fn delete(&self) {
        if self.schedule.story == Story::Bucket {
            self.claim_goes();
        }
        self.ask(Method::DELETE, &self.path(), &Value::Null);
    }

    /// Everything in it is deleted. Of a Bucket that is the claim, whose controller deletes the Bucket.
    fn delete_namespace(&self) {
        {
            let facts = &mut self.lock().facts;
            // All Secrets go, too, whosever they are.
            facts.meddled = true;
            facts.foreign_secret = None;
        }
        if self.schedule.story == Story::Bucket {
            self.delete();
        }
        self.ask(Method::DELETE, &Objects::namespace(), &Value::Null);
    }

    fn lose_secret(&self) {
        self.lock().facts.meddled = true;
        self.lock().facts.foreign_secret = None;
        self.ask(Method::DELETE, &Objects::secret(), &Value::Null);
        self.patch(&Objects::secret(), &json!({ "metadata": { "finalizers": null } }));
    }

    fn hold_object(&self) {
        let Some(object) = self.object().filter(|object| !is_deleting(object)) else { return };
        self.lock().facts.held = Some(text(&object, "/metadata/uid").to_owned());
        let mut finalizers = finalizers_but(&object, HOLD);
        finalizers.push(HOLD.to_owned());
        self.patch(&self.path(), &json!({ "metadata": { "finalizers": finalizers } }));
    }

    fn occupy(&self) {
        // Later, the driver could not tell the two apart: a deletion by id is one of whatever bears it.
        if self.schedule.driver.derived && !self.lock().facts.made {
            let id = format!("{ID_PREFIX}{BUCKET}");
            self.driver.add_foreign(&id);
            self.lock().facts.foreign_bucket = Some(id);
        }
    }

    fn vanish(&self) {
        let Some(object) = self.object() else { return };
        if self.driver.lose_bucket(text(&object, "/status/bucketID")) {
            self.lock().facts.vanished = true;
            if is_ready(&object) {
                crate::bugs::vanished();
            }
        }
    }

    fn strip(&self) {
        let object = self.object();
        let ready = object.as_ref().is_some_and(|object| is_ready(object));
        let retain = object.is_some_and(|object| text(&object, "/spec/deletionPolicy") == "Retain");
        let looks = self.schedule.moves.iter().any(|(_, what)| matches!(what, Move::Watches(_)));
        let flipped = self.lock().facts.flipped;
        let seen = self.schedule.lag.is_zero() && !looks && flipped.is_none_or(|at| at < Instant::now());
        {
            let facts = &mut self.lock().facts;
            facts.stripped(ready);
            // A change need not have been seen when the object goes.
            facts.retained_by_force |= retain || facts.flipped.is_some();
            facts.kept |= retain && seen;
        }
        self.patch(&self.path(), &json!({ "metadata": { "finalizers": null } }));
    }

    fn set_policy(&self, policy: &str) {
        self.patch(&self.path(), &json!({ "spec": { "deletionPolicy": policy } }));
        self.lock().facts.flipped = Some(Instant::now());
    }

    /// The controller: it lets an access go when the sidecar has cleaned up, and the garbage collector works.
    pub(crate) fn controllers_act(&self) {
        self.api.settle();
        self.others_let_go();
        if self.schedule.story != Story::Access {
            return;
        }
        let finished = |access: &Value| {
            is_deleting(access) && is_marked(access, SIDECAR_CLEANUP_FINISHED) && bears(access, FINALIZER)
        };
        if let Some(access) = self.object().filter(|access| finished(access)) {
            self.tell(Who::Somebody, format_args!("the controller lets the access go"));
            let others = finalizers_but(&access, FINALIZER);
            self.patch(&Objects::access(), &json!({ "metadata": { "finalizers": others } }));
        }
    }

    /// Whoever else holds a deleting object lets it go last (C18).
    fn others_let_go(&self) {
        let held = |object: &Value| is_deleting(object) && finalizers(object) == [HOLD];
        if self.object().is_some_and(|object| held(&object)) {
            self.lock().facts.held = None;
            self.tell(Who::Somebody, format_args!("lets the object go, too"));
            self.patch(&self.path(), &json!({ "metadata": { "finalizers": null } }));
        }
    }
}
