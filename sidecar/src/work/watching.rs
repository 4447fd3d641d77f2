//! From a change of the index to the work that it means.

use std::sync::Arc;

use cosi_lifecycle::access::{self, AccessView};
use cosi_lifecycle::bucket::{self, BucketView, slipped};
use cosi_lifecycle::{Machine, Wake};

use super::{AccessEffects, BucketEffects, Workers};
use crate::cluster::{Change, Key, Watch};

impl<M> Watch<BucketView> for Arc<Workers<BucketEffects<M>>>
where
    M: Machine<View = BucketView, Event = bucket::Event, Effect = bucket::Effect> + Send + 'static,
{
    fn changed(&self, key: &Key, change: &Change<BucketView>) {
        // What looks like a loss may be an own write, not folded in yet. The lifecycle tells the two apart.
        let is_followed = || self.queue.is_busy_or(key, Machine::follows_an_object);
        if let Some(before) = change.before.as_deref().filter(|_| !is_followed())
            && let Some(note) = slipped(before, change.after.as_deref())
        {
            let workers = Self::clone(self);
            tokio::spawn(async move { workers.effects.parties.tell(&note).await });
        }
        self.queue.wake(Key::clone(key), Wake::CHANGED);
    }

    fn seen(&self, _: &Key) {}

    fn listed(&self) {}
}

impl<M> Watch<AccessView> for Arc<Workers<AccessEffects<M>>>
where
    M: Machine<View = AccessView, Event = access::Event, Effect = access::Effect> + Send + 'static,
{
    fn changed(&self, key: &Key, _: &Change<AccessView>) {
        self.queue.wake(Key::clone(key), Wake::CHANGED);
    }

    fn seen(&self, key: &Key) {
        self.effects.predecessor.seen(key);
    }

    fn listed(&self) {
        self.effects.predecessor.listed();
    }
}
