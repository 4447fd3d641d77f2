//! From the API server's watch into the index.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;

use cosi_lifecycle::Note;
use cosi_lifecycle::bucket::slipped;
use futures::StreamExt as _;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use kube::core::Status;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch_stream};

use super::index::Change;
use super::{Buckets, Index, Sight};

/// A dead connection is noticed after this and a few seconds (architecture, trap 3); a quiet one costs one request.
const REWATCH_EVERY_SECONDS: u32 = 55;

/// Whole objects in memory at a time while listing; they are a few KiB each, and only a compact view of each is kept.
const PAGE: u32 = 200;

/// What the watch drives.
pub trait Watch {
    /// An entry of the index changed so that work can depend on it.
    fn changed(&self, name: Arc<str>);
    /// Whether a pass or a state sees by itself what becomes of the object of that name.
    fn is_followed(&self, name: &str) -> bool;
    /// A person should know.
    fn tell(&self, note: Note);
}

/// Follows all Buckets for ever; returns only if the stream ends, which it never should.
///
/// Lists are consistent reads in pages, so that memory holds no more than a page of whole objects. Errors are logged once
/// per kind, with what to do about it, and tried again with backoff.
pub async fn watch(buckets: &Buckets, index: &Index, target: &impl Watch) {
    let config = watcher::Config::default().timeout(REWATCH_EVERY_SECONDS).page_size(PAGE);
    let stream = watch_stream(buckets.api(), config).default_backoff();
    let mut stream = pin!(stream);
    let mut follower = Follower { buckets, index, target, listed: HashSet::new(), trouble: None };
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => follower.event(event),
            Err(error) => follower.failed(&error),
        }
    }
}

struct Follower<'a, W> {
    buckets: &'a Buckets,
    index: &'a Index,
    target: &'a W,
    /// Names seen in the list under way.
    listed: HashSet<Arc<str>>,
    /// What was last complained about.
    trouble: Option<String>,
}

impl<W: Watch> Follower<'_, W> {
    fn event(&mut self, event: Event<DynamicObject>) {
        // Init only announces a list; whether it can be had shows next.
        if !matches!(event, Event::Init) && self.trouble.take().is_some() {
            tracing::info!("watching Buckets again");
        }
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                self.listed.insert(object.name_any().into());
                self.apply(object);
            }
            Event::InitDone => self.forget_unlisted(),
            Event::Apply(object) => self.apply(object),
            Event::Delete(object) => {
                let version = object.resource_version().unwrap_or_default();
                self.removed(&object.name_any(), &version);
            }
        }
    }

    fn apply(&self, object: DynamicObject) {
        let (name, version) = (object.name_any(), object.resource_version().unwrap_or_default());
        match self.buckets.look(object) {
            Sight::Ours(view) => self.changed(&self.index.fold(view)),
            Sight::Foreign => self.removed(&name, &version),
            Sight::Unreadable { reason } => {
                tracing::warn!(bucket = %name, %reason, "this Bucket cannot be decoded and is left alone; correct or replace it");
            }
        }
    }

    fn removed(&self, name: &str, version: &str) {
        self.changed(&self.index.remove(name, version));
    }

    /// Whatever is in the index and was not in a complete list went away while nobody watched. An entry may also be newer
    /// than the list; the live read that comes before any act tells the two apart.
    fn forget_unlisted(&mut self) {
        for name in self.index.names() {
            if !self.listed.contains(&name)
                && let Some(known) = self.index.get(&name)
            {
                self.removed(&name, &known.resource_version);
            }
        }
        self.listed = HashSet::new();
        tracing::debug!(buckets = self.index.names().len(), "all Buckets listed");
    }

    fn changed(&self, change: &Change) {
        let Some(name) = change.after.as_ref().or(change.before.as_ref()).map(|v| Arc::clone(&v.name)) else {
            return;
        };
        if !change.matters() {
            return;
        }
        // What looks like a loss may be an own write, not folded in yet. The lifecycle tells the two apart.
        if let Some(before) = change.before.as_deref().filter(|_| !self.target.is_followed(&name))
            && let Some(note) = slipped(before, change.after.as_deref())
        {
            self.target.tell(note);
        }
        self.target.changed(name);
    }

    fn failed(&mut self, error: &watcher::Error) {
        let advice = advice(error);
        if self.trouble.as_deref() != Some(advice) {
            tracing::warn!(reason = reason(error), "cannot watch Buckets: {advice}");
            self.trouble = Some(advice.to_owned());
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
fn advice(error: &watcher::Error) -> &'static str {
    let code = status(error).map_or(0, |s| s.code);
    match code {
        401 => "the API server does not accept our credentials; check the service account or --kubeconfig",
        403 => {
            "RBAC forbids it; allow get, list, watch and patch on buckets.objectstorage.k8s.io, and patch on buckets/status"
        }
        404 => {
            "the cluster has no Bucket resource in objectstorage.k8s.io/v1alpha2; install the COSI CRDs (deploy/crds)"
        }
        410 => "the history is gone; listing anew",
        0 => "the API server cannot be reached; trying again",
        _ => "the API server answers with an error; trying again",
    }
}
