//! A watch that counts objects as they become Ready.

use std::collections::HashSet;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::{TryStreamExt as _, pin_mut};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, ResourceExt as _};
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longest time for one phase.
const PATIENCE: Duration = Duration::from_mins(15);

/// A kind of object that can be Ready.
pub(super) trait Readiness:
    kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send
{
    fn is_ready(&self) -> bool;
}

impl Readiness for cosi_api::Bucket {
    fn is_ready(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.ready_to_use)
    }
}

impl Readiness for cosi_api::BucketAccess {
    fn is_ready(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.ready_to_use)
    }
}

/// A watch that counts the Ready objects of a phase.
pub(super) struct Ready(JoinHandle<Result<Span>>);

/// When the first and the last object of a phase became Ready, and how many did.
#[derive(Clone, Copy)]
pub(super) struct Span {
    first: Instant,
    last: Instant,
    count: u32,
}

impl Ready {
    /// Begins to watch for `count` Ready objects, the names of which begin with `phase` and a hyphen.
    pub(super) fn watch<K: Readiness + 'static>(api: Api<K>, phase: &'static str, count: u32) -> Self {
        Self(tokio::spawn(watch(api, phase, count)))
    }

    /// Waits until all are Ready.
    pub(super) async fn all(self) -> Result<Span> {
        let waited = timeout(PATIENCE, self.0).await;
        waited.with_context(|| format!("not all became Ready in {PATIENCE:?}"))?.context("watch objects")?
    }
}

impl Span {
    /// Objects per second.
    pub(super) fn rate(&self) -> f64 {
        f64::from(self.count - 1) / self.last.duration_since(self.first).as_secs_f64()
    }
}

async fn watch<K: Readiness + 'static>(api: Api<K>, phase: &str, count: u32) -> Result<Span> {
    let prefix = format!("{phase}-");
    let events = watcher(api, watcher::Config::default()).default_backoff().applied_objects();
    pin_mut!(events);
    let mut seen = HashSet::new();
    let mut first = None;
    while let Some(object) = events.try_next().await.context("watch objects")? {
        let name = object.name_any();
        if !object.is_ready() || !name.starts_with(&prefix) || !seen.insert(name) {
            continue;
        }
        let last = Instant::now();
        let first = *first.get_or_insert(last);
        if seen.len() == count as usize {
            return Ok(Span { first, last, count });
        }
    }
    anyhow::bail!("the watch ended")
}
