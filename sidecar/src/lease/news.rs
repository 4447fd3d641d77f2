//! What the API server tells of the Lease by itself.

use std::pin::Pin;
use std::time::Duration;

use cosi_lifecycle::lease::Found;
use futures::{Stream, StreamExt as _};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::WatchEvent;
use tokio::time::{Instant, sleep_until, timeout};

use super::store::{Store, found};

type Events = Pin<Box<dyn Stream<Item = kube::Result<WatchEvent<Lease>>> + Send>>;

/// A watch of the Lease, as far as there is one. It makes things quick, not right: where it fails, the Lease is read.
pub(super) struct News {
    /// Between two tries to watch, and for how long one may take.
    every: Duration,
    events: Option<Events>,
    /// The version from which on to watch.
    version: Option<String>,
    next_try: Instant,
}

/// What there is to tell.
pub(super) enum Told {
    /// The Lease changed, or went.
    Changed(Option<Found>),
    /// Nobody tells anything at the moment: look yourself.
    Nothing,
}

impl News {
    pub(super) fn new(every: Duration) -> Self {
        Self { every, events: None, version: None, next_try: Instant::now() }
    }

    /// This version was seen.
    pub(super) fn know(&mut self, version: &str) {
        self.version = Some(version.to_owned());
    }

    /// Waits for the next change. Returns with nothing once per retry period while there is no watch.
    pub(super) async fn next(&mut self, store: &Store) -> Told {
        if self.events.is_none() {
            sleep_until(self.next_try).await;
            self.next_try = Instant::now() + self.every;
            let Some(version) = self.version.clone() else { return Told::Nothing };
            match timeout(self.every, store.watch(&version)).await {
                Ok(Ok(events)) => self.events = Some(Box::pin(events)),
                Ok(Err(error)) => return self.lost(Some(&error)),
                Err(_) => return self.lost(None),
            }
        }
        let Some(events) = &mut self.events else { return Told::Nothing };
        match events.next().await {
            Some(Ok(WatchEvent::Added(lease) | WatchEvent::Modified(lease))) => {
                let found = found(&lease);
                self.know(&found.version);
                Told::Changed(Some(found))
            }
            Some(Ok(WatchEvent::Deleted(_))) => {
                self.version = None;
                self.events = None;
                Told::Changed(None)
            }
            // None was asked for.
            Some(Ok(WatchEvent::Bookmark(_))) => Told::Nothing,
            Some(Ok(WatchEvent::Error(status))) => self.lost(Some(&kube::Error::Api(status))),
            Some(Err(error)) => self.lost(Some(&error)),
            None => self.lost(None),
        }
    }

    /// The watch has ended, as every watch does after some minutes, or failed. Whatever it was resumes with the next version
    /// that is read.
    fn lost(&mut self, error: Option<&kube::Error>) -> Told {
        if let Some(error) = error {
            tracing::debug!(
                error = crate::chain(error),
                "the leader's Lease cannot be watched; it is read instead"
            );
        }
        self.events = None;
        self.version = None;
        Told::Nothing
    }
}
