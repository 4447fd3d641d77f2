//! Effects of the BucketAccess machine.

use std::marker::PhantomData;
use std::sync::Arc;

use cosi_lifecycle::access::{AccessView, Effect, Event, Place, SecretView, StatusWrite, Version};
use cosi_lifecycle::bucket::BucketView;
use cosi_lifecycle::{Kind, Machine, Rpc, Time, WriteFailure};

use super::{Effects, Parties, fold_read, fold_written, logged};
use crate::cluster::{Accesses, Buckets, Index, Key, Label, Secrets};
use crate::work::Predecessor;

/// What effects of accesses act upon.
pub struct AccessEffects<M> {
    /// Accesses at the API server.
    pub accesses: Accesses,
    /// What is known of them.
    pub index: Arc<Index<AccessView>>,
    /// Their Secrets.
    pub secrets: Secrets,
    /// The Buckets that they reach.
    pub buckets: Buckets,
    /// The driver and the Events.
    pub parties: Parties,
    /// Which of them a predecessor may have called for.
    pub predecessor: Predecessor,
    /// What decides.
    pub machine: PhantomData<fn() -> M>,
}

impl<M> Effects for AccessEffects<M>
where
    M: Machine<View = AccessView, Event = Event, Effect = Effect> + Send + 'static,
{
    type Machine = M;

    fn label(&self, key: &Key) -> Label {
        match self.index.get(key) {
            Some(view) => Label::new(Kind::BucketAccess, Some(&view.place.namespace), &view.place.name),
            None => Label::new(Kind::BucketAccess, None, key),
        }
    }

    fn view(&self, key: &Key) -> Option<Arc<AccessView>> {
        self.index.get(key)
    }

    fn by_name_missing(&self) -> bool {
        self.parties.driver.lacks(Rpc::RevokeBucketAccessByName)
    }

    fn predecessor_done(&self, key: &Key) -> Time {
        self.predecessor.done(key)
    }

    async fn run(&self, key: &Key, effect: Effect) -> Option<Event> {
        let label = self.label(key);
        let event = match effect {
            Effect::Wait(_) | Effect::Done => return None,
            Effect::Read(place) => Event::Read(self.read(key, &label, &place).await),
            Effect::ReadBuckets(names) => Event::Buckets(self.read_buckets(&label, names).await),
            Effect::WriteFinalizers { object, finalizers } => {
                let result = self.accesses.write_finalizers(&object, &finalizers).await;
                Event::Wrote(fold_written(&self.index, &label, "finalizers", result))
            }
            Effect::WriteCleanupFinished { object, finished } => {
                let result = self.accesses.write_cleanup_finished(&object, finished).await;
                Event::Wrote(fold_written(&self.index, &label, "annotation", result))
            }
            Effect::WriteStatus { object, status } => self.write_status(&label, &object, &status).await,
            Effect::Call(call) => Event::Called(self.parties.call(&label, call).await),
            Effect::LastWill(call) => Event::Called(self.parties.last_will(&label, call).await),
            Effect::Tell(note) => {
                self.parties.tell(&note).await;
                Event::Told
            }
            of_secret => self.run_on_secret(&label, of_secret).await?,
        };
        Some(event)
    }
}

impl<M> AccessEffects<M> {
    async fn run_on_secret(&self, label: &Label, effect: Effect) -> Option<Event> {
        let (what, name, result) = match effect {
            Effect::ReadSecret(place) => {
                let result = self.secrets.read(&place).await;
                ("read", place.name, result)
            }
            Effect::CreateSecret { place, owner, data } => {
                let result = self.secrets.create(&place, &owner, &data).await;
                ("create", place.name, result)
            }
            Effect::WriteSecret { secret, data } => {
                let result = self.secrets.write(&secret, &data).await;
                ("write values", secret.place.name, result)
            }
            Effect::ReleaseSecret { secret, finalizers } => {
                let result = self.secrets.write_finalizers(&secret, &finalizers).await;
                ("write finalizers", secret.place.name, result)
            }
            Effect::DeleteSecret(secret) => {
                let result = self.secrets.delete(&secret).await;
                ("delete", secret.place.name, result)
            }
            _ => return None,
        };
        Some(Event::Secret(told_of_secret(label, what, &name, result)))
    }

    async fn write_status(&self, label: &Label, object: &Version, status: &StatusWrite) -> Event {
        let result = self.accesses.write_status(object, status).await;
        Event::Wrote(fold_written(&self.index, label, "status", result))
    }

    /// Another access under the same name is not the one that is meant.
    async fn read(&self, key: &Key, label: &Label, place: &Place) -> Result<(), WriteFailure> {
        let known = self.index.get(key);
        let result = self.accesses.read(place).await.map(|view| view.filter(|view| view.uid == *key));
        fold_read(&self.index, key, label, known.as_ref(), result)
    }

    async fn read_buckets(
        &self,
        label: &Label,
        names: Vec<Key>,
    ) -> Vec<Result<Option<BucketView>, WriteFailure>> {
        let results = self.buckets.read_all(names).await;
        results.into_iter().map(|result| logged(label, "read Bucket", result)).collect()
    }
}

fn told_of_secret(
    label: &Label,
    what: &str,
    name: &str,
    result: Result<Option<SecretView>, WriteFailure>,
) -> Result<Option<SecretView>, WriteFailure> {
    let result = logged(label, &format!("{what}: Secret {name}"), result);
    if result.is_ok() {
        tracing::debug!(access = label.access(), secret = %name, what, "done");
    }
    result
}
