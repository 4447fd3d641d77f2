//! What people do, and the controller.

use std::sync::Arc;
use std::time::Duration;

use cosi_api::names::{FINALIZER, SIDECAR_CLEANUP_FINISHED};
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Objects, World};
use crate::oracle::is_ready;
use crate::schedule::{Act, Story};
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
        self.tell(Who::Somebody, format_args!("makes the object"));
        match self.schedule.story {
            Story::Bucket => self.make_bucket(),
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
            Act::Again => {
                if self.object().is_none() {
                    self.make();
                }
            }
            Act::Label => {
                let steps = self.lock().steps.to_string();
                self.patch(&self.path(), &json!({ "metadata": { "labels": { "touched": steps } } }));
            }
            Act::Retain => self.set_policy("Retain"),
            Act::DontRetain => self.set_policy("Delete"),
            Act::LoseSecret => {
                self.ask(Method::DELETE, &Objects::secret(), &Value::Null);
                self.patch(&Objects::secret(), &json!({ "metadata": { "finalizers": null } }));
                self.lock().facts.meddled = true;
            }
            Act::Stop => self.stop_all(),
        }
    }

    /// As people do.
    pub(crate) fn delete(&self) {
        if self.schedule.story == Story::Bucket {
            self.claim_goes();
        }
        self.ask(Method::DELETE, &self.path(), &Value::Null);
    }

    fn strip(&self) {
        let ready = self.object().is_some_and(|object| is_ready(&object));
        self.lock().facts.stripped(ready);
        self.patch(&self.path(), &json!({ "metadata": { "finalizers": null } }));
    }

    fn set_policy(&self, policy: &str) {
        self.patch(&self.path(), &json!({ "spec": { "deletionPolicy": policy } }));
        self.lock().facts.flipped = true;
    }

    /// The controller: it lets an access go when the sidecar has cleaned up, and the garbage collector works.
    pub(crate) fn controllers_act(&self) {
        self.api.settle();
        if self.schedule.story != Story::Access {
            return;
        }
        let finished = |access: &Value| {
            let annotations = access.pointer("/metadata/annotations");
            access.pointer("/metadata/deletionTimestamp").is_some()
                && annotations.is_some_and(|all| all.get(SIDECAR_CLEANUP_FINISHED).is_some())
                && access.pointer("/metadata/finalizers/0").is_some_and(|first| first == FINALIZER)
        };
        if self.object().is_some_and(|access| finished(&access)) {
            self.tell(Who::Somebody, format_args!("the controller lets the access go"));
            self.patch(&Objects::access(), &json!({ "metadata": { "finalizers": null } }));
        }
    }
}
