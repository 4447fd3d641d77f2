//! Effects of the Bucket machine.

use std::marker::PhantomData;
use std::sync::Arc;

use cosi_lifecycle::bucket::{BucketView, Effect, Event};
use cosi_lifecycle::{Kind, Machine, Rpc, Time};

use super::{Effects, Parties, fold_read, fold_written};
use crate::cluster::{Buckets, Index, Key, Label};

/// What effects of Buckets act upon.
pub struct BucketEffects<M> {
    /// The API server.
    pub buckets: Buckets,
    /// What is known of it.
    pub index: Arc<Index<BucketView>>,
    /// The driver and the Events.
    pub parties: Parties,
    /// When a predecessor's calls have certainly ended.
    pub predecessor_done: Time,
    /// What decides.
    pub machine: PhantomData<fn() -> M>,
}

impl<M> Effects for BucketEffects<M>
where
    M: Machine<View = BucketView, Event = Event, Effect = Effect> + Send + 'static,
{
    type Machine = M;

    fn label(&self, key: &Key) -> Label {
        Label::new(Kind::Bucket, None, key)
    }

    fn view(&self, key: &Key) -> Option<Arc<BucketView>> {
        self.index.get(key)
    }

    fn by_name_missing(&self) -> bool {
        self.parties.driver.lacks(Rpc::DeleteBucketByName)
    }

    fn predecessor_done(&self, _: &Key) -> Time {
        self.predecessor_done
    }

    async fn run(&self, key: &Key, effect: Effect) -> Option<Event> {
        let label = self.label(key);
        let event = match effect {
            Effect::Wait(_) | Effect::Done => return None,
            Effect::Read => {
                let known = self.index.get(key);
                let result = self.buckets.read(key).await;
                Event::Read(fold_read(&self.index, key, &label, known.as_ref(), result))
            }
            Effect::ReadClaim(claim) => Event::Claim(self.buckets.read_claim(&claim).await),
            Effect::WriteFinalizers { uid, resource_version, finalizers } => {
                let result = self.buckets.write_finalizers(key, &uid, &resource_version, &finalizers).await;
                Event::Wrote(fold_written(&self.index, &label, "finalizers", result))
            }
            Effect::WriteStatus { resource_version, status } => {
                let result = self.buckets.write_status(key, &resource_version, &status).await;
                Event::Wrote(fold_written(&self.index, &label, "status", result))
            }
            Effect::Call(call) => Event::Called(self.parties.call(&label, call).await),
            Effect::LastWill(call) => Event::Called(self.parties.last_will(&label, call).await),
            Effect::Tell(note) => {
                self.parties.tell(&note).await;
                Event::Told
            }
        };
        Some(event)
    }
}
