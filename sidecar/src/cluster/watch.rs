//! From the API server's watch into the index.

use std::collections::HashSet;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt as _;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use kube::core::Status;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch_stream};
use tokio::time::sleep;

use super::{Change, Index, Indexed as _, Key, Label, Objects, Sight};

/// A dead connection is noticed after this and a few seconds (architecture, trap 3); a quiet one costs one request.
const REWATCH_EVERY_SECONDS: u32 = 55;

/// Whole objects in memory at a time while listing; they are a few KiB each, and only a compact view of each is kept.
const PAGE: u32 = 200;

/// Before a watch that cannot be resumed is begun anew with a list.
const BEGIN_ANEW_AFTER: Duration = Duration::from_secs(1);

/// What the watch drives.
pub trait Watch<V> {
    /// An entry of the index changed so that work can depend on it.
    fn changed(&self, key: &Key, change: &Change<V>);

    /// An object of ours was seen, or one that may be. Comes before its change.
    fn seen(&self, key: &Key);

    /// All objects that there are have been seen.
    fn listed(&self);
}

/// Follows all objects of a kind for ever; returns only if the stream ends, which it never should.
///
/// Lists are consistent reads in pages, so that memory holds no more than a page of whole objects. Errors are logged once
/// per kind, with what to do about it, and tried again with backoff.
pub async fn watch<O: Objects>(objects: &O, index: &Index<O::View>, target: &impl Watch<O::View>) {
    let config = watcher::Config::default().timeout(REWATCH_EVERY_SECONDS).page_size(PAGE);
    let mut follower = Follower { objects, index, target, listed: HashSet::new(), trouble: None };
    loop {
        let mut stream = pin!(watch_stream(objects.api(), config.clone()).default_backoff());
        loop {
            match stream.next().await {
                Some(Ok(event)) => follower.event(event),
                Some(Err(error)) => {
                    follower.failed(&error);
                    if cannot_resume(&error) {
                        break;
                    }
                }
                None => return,
            }
        }
        sleep(BEGIN_ANEW_AFTER).await;
    }
}

/// The version from which on to watch is too old, and that was told before any event: the library would ask for it again and
/// again. Told in an event, it leads to a new list.
fn cannot_resume(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchStartFailed(kube::Error::Api(status)) if status.code == 410)
}

struct Follower<'a, O: Objects, W> {
    objects: &'a O,
    index: &'a Index<O::View>,
    target: &'a W,
    /// Keys seen in the list under way.
    listed: HashSet<Key>,
    /// What was last complained about.
    trouble: Option<String>,
}

impl<O: Objects, W: Watch<O::View>> Follower<'_, O, W> {
    fn event(&mut self, event: Event<DynamicObject>) {
        // Init only announces a list; whether it can be had shows next.
        if !matches!(event, Event::Init) && self.trouble.take().is_some() {
            tracing::info!("watching {} again", O::PLURAL);
        }
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                self.listed.insert(O::key(&object));
                self.apply(object);
            }
            Event::InitDone => self.forget_unlisted(),
            Event::Apply(object) => self.apply(object),
            Event::Delete(object) => {
                let version = object.resource_version().unwrap_or_default();
                self.removed(&O::key(&object), &version);
                self.index.caught_up(&O::key(&object), &object.uid().unwrap_or_default());
            }
        }
    }

    fn apply(&self, object: DynamicObject) {
        let (key, version) = (O::key(&object), object.resource_version().unwrap_or_default());
        let label = Label::new(O::KIND, object.namespace().as_deref(), &object.name_any().into());
        match self.objects.look(object) {
            Sight::Ours(view) => {
                self.target.seen(&key);
                self.changed(&self.index.fold_watched(view));
            }
            Sight::Foreign => self.removed(&key, &version),
            Sight::Unreadable { reason } => {
                self.target.seen(&key);
                tracing::warn!(
                    bucket = label.bucket(), access = label.access(), %reason,
                    "this {:?} cannot be decoded and is left alone; correct or replace it", O::KIND
                );
            }
        }
    }

    fn removed(&self, key: &str, version: &str) {
        self.changed(&self.index.remove(key, version));
    }

    /// Whatever is in the index and was not in a complete list went away while nobody watched. An entry may also be newer
    /// than the list; the live read that comes before any act tells the two apart.
    fn forget_unlisted(&mut self) {
        self.target.listed();
        self.index.caught_up_by_list(|key| self.listed.contains(key));
        let keys = self.index.keys();
        for key in keys.iter().filter(|key| !self.listed.contains(*key)) {
            if let Some(known) = self.index.get(key) {
                self.removed(key, known.resource_version());
            }
        }
        self.listed = HashSet::new();
        tracing::debug!(known = keys.len(), "all {} listed", O::PLURAL);
    }

    fn changed(&self, change: &Change<O::View>) {
        if let Some(key) = change.key().filter(|_| change.matters()) {
            self.target.changed(key, change);
        }
    }

    fn failed(&mut self, error: &watcher::Error) {
        let advice = advice::<O>(error);
        if self.trouble.as_ref() != Some(&advice) {
            tracing::warn!(reason = reason(error), "cannot watch {}: {advice}", O::PLURAL);
            self.trouble = Some(advice);
        }
    }
}

/// The API server's own status, if it answered.
fn status(error: &watcher::Error) -> Option<&Status> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(s))
        | watcher::Error::WatchStartFailed(kube::Error::Api(s))
        | watcher::Error::WatchFailed(kube::Error::Api(s))
        | watcher::Error::WatchError(s) => Some(s),
        _ => None,
    }
}

fn reason(error: &watcher::Error) -> String {
    status(error).map_or_else(|| crate::chain(error), |s| s.message.clone())
}

/// What a person can do about it.
fn advice<O: Objects>(error: &watcher::Error) -> String {
    let code = status(error).map_or(0, |s| s.code);
    let advice = match code {
        401 => "the API server does not accept our credentials; check the service account or --kubeconfig",
        403 => return format!("RBAC forbids it; {}", O::RIGHTS),
        404 => {
            return format!(
                "the cluster has no {:?} resource in objectstorage.k8s.io/v1alpha2; install the COSI CRDs (deploy/crds)",
                O::KIND
            );
        }
        410 => "the history is gone; listing anew",
        0 => "the API server cannot be reached; trying again",
        _ => "the API server answers with an error; trying again",
    };
    advice.to_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use cosi_lifecycle::access::AccessView;
    use serde_json::json;

    use std::sync::Arc;

    use super::*;
    use crate::cluster::Accesses;
    use crate::environment::Host;

    /// Writes down what it hears.
    #[derive(Default)]
    struct Log(RefCell<Vec<String>>);

    impl Watch<AccessView> for Log {
        fn changed(&self, key: &Key, change: &Change<AccessView>) {
            let word = if change.after.is_some() { "there" } else { "gone" };
            self.0.borrow_mut().push(format!("{key} {word}"));
        }

        fn seen(&self, key: &Key) {
            self.0.borrow_mut().push(format!("{key} seen"));
        }

        fn listed(&self) {
            self.0.borrow_mut().push("listed".to_owned());
        }
    }

    fn access(uid: &str, version: u32, driver: &str, protocol: &str) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketAccess",
            "metadata": { "namespace": "n", "name": "a", "uid": uid, "resourceVersion": version.to_string() },
            "spec": { "bucketAccessClassName": "c", "protocol": protocol, "bucketClaims": [] },
            "status": { "readyToUse": false, "driverName": driver },
        }))
        .unwrap()
    }

    /// What is heard of these events.
    fn heard(events: impl IntoIterator<Item = Event<DynamicObject>>) -> Vec<String> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
        let accesses =
            Accesses::new(Arc::new(Host), kube::Client::try_from(config).unwrap(), "d.example".into());
        let (index, target) = (Index::default(), Log::default());
        let (objects, listed) = (&accesses, HashSet::new());
        let mut follower = Follower { objects, index: &index, target: &target, listed, trouble: None };
        for event in events {
            follower.event(event);
        }
        target.0.into_inner()
    }

    #[tokio::test]
    async fn an_access_that_was_made_again_while_nobody_watched_is_another_one() {
        let events = [
            Event::InitApply(access("old", 1, "d.example", "S3")),
            Event::InitDone,
            Event::Init,
            Event::InitApply(access("new", 5, "d.example", "S3")),
            Event::InitDone,
        ];
        let expected = ["old seen", "old there", "listed", "new seen", "new there", "listed", "old gone"];
        assert_eq!(heard(events), expected);
    }

    /// R3 and R17: whoever could decode it may have called the driver.
    #[tokio::test]
    async fn what_cannot_be_decoded_was_seen_and_what_is_foreign_was_not() {
        let events = [
            Event::InitApply(access("unreadable", 1, "d.example", "FTP")),
            Event::InitApply(access("foreign", 1, "other.example", "S3")),
            Event::InitDone,
        ];
        assert_eq!(heard(events), ["unreadable seen", "listed"]);
    }

    #[tokio::test]
    async fn a_deletion_is_told_once_and_only_of_the_object_that_it_is_about() {
        let events = [
            Event::Apply(access("new", 5, "d.example", "S3")),
            Event::Delete(access("old", 4, "d.example", "S3")),
            Event::Delete(access("new", 6, "d.example", "S3")),
            Event::Delete(access("new", 6, "d.example", "S3")),
        ];
        assert_eq!(heard(events), ["new seen", "new there", "new gone"]);
    }
}
