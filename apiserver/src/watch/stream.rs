//! The state of a watch between two of its lines.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use tokio::time::{Instant, sleep_until};

use super::event::{bookmark, error, in_namespace, line, of_entry};
use super::{Begin, Order};
use crate::registry::{State, resource};
use crate::service::Shared;
use crate::status::Refusal;

/// How long a watch lasts if the client does not say: between the API server's half hour and hour.
const LASTS: Duration = Duration::from_mins(45);
/// How long nothing is said before a bookmark is.
const QUIET: Duration = Duration::from_mins(1);
/// How many changes are told at once, so that others get their turn.
const AT_ONCE: usize = 200;

struct Watching {
    shared: Arc<Shared>,
    order: Order,
    /// Everything up to this revision was told.
    told: u64,
    /// Lines that are to be sent before anything else.
    first: VecDeque<Bytes>,
    ends: Instant,
    bookmark_due: Instant,
    over: bool,
    /// Whether a table's headings are still to be told.
    headings: bool,
}

pub(super) fn begin(shared: &Arc<Shared>, order: Order) -> BoxStream<'static, Bytes> {
    let now = Instant::now();
    let ends = now + order.seconds.map_or(LASTS, Duration::from_secs);
    let mut watching = Watching {
        told: 0,
        first: VecDeque::new(),
        ends,
        bookmark_due: now + QUIET,
        over: false,
        headings: true,
        shared: Arc::clone(shared),
        order,
    };
    watching.start(&shared.lock());
    stream::unfold(watching, |mut watching| async move {
        let bytes = watching.next().await?;
        Some((bytes, watching))
    })
    .boxed()
}

impl Watching {
    fn start(&mut self, state: &State) {
        let current = state.store.revision();
        self.told = match self.order.begin {
            Begin::After(revision) => revision,
            Begin::Initial | Begin::Now => current,
        };
        if self.order.begin == Begin::Initial {
            self.tell_all(state);
            if self.order.bookmarks {
                let line = self.bookmark(current, true);
                self.first.push_back(line);
            }
        }
    }

    fn bookmark(&mut self, revision: u64, complete: bool) -> Bytes {
        let headings = std::mem::take(&mut self.headings);
        bookmark(&self.order, revision, complete, headings, self.shared.clock().now()).into()
    }

    fn too_old(&mut self, revision: u64, oldest: u64) {
        let text = format!("too old resource version: {revision} ({oldest})");
        self.first.push_back(error(&Refusal::expired(text)).into());
        self.over = true;
    }

    fn tell_all(&mut self, state: &State) {
        let now = self.shared.clock().now();
        for (key, object) in state.store.all(&resource(&self.order.kind)) {
            if in_namespace(&self.order, key) && self.order.selector.matches(object) {
                let headings = std::mem::take(&mut self.headings);
                self.first.push_back(line(&self.order, "ADDED", object, headings, now).into());
            }
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.first.pop_front() {
                return Some(bytes);
            }
            if self.over || Instant::now() >= self.ends {
                return None;
            }
            // Listening begins before it is looked, so that no news gets lost between the two.
            let shared = Arc::clone(&self.shared);
            let mut news = pin!(shared.news().notified());
            news.as_mut().enable();
            if let Some(bytes) = self.changes() {
                self.bookmark_due = Instant::now() + QUIET;
                return Some(bytes);
            }
            if !self.first.is_empty() {
                continue;
            }
            tokio::select! {
                biased;
                () = news => {}
                () = sleep_until(self.bookmark_due), if self.order.bookmarks => {
                    self.bookmark_due = Instant::now() + QUIET;
                    return Some(self.bookmark(self.told, false));
                }
                () = sleep_until(self.ends) => return None,
            }
        }
    }

    /// What was written since, as far as it is selected.
    fn changes(&mut self) -> Option<Bytes> {
        let shared = Arc::clone(&self.shared);
        let state = shared.lock();
        let resource = resource(&self.order.kind);
        let now = shared.clock().now();
        let mut lines = String::new();
        let Ok(entries) = state.store.since(self.told) else {
            let (told, oldest) = (self.told, state.store.oldest());
            self.too_old(told, oldest);
            return None;
        };
        let mut count = 0;
        for entry in entries {
            self.told = entry.revision;
            if entry.resource != resource || !in_namespace(&self.order, &entry.key) {
                continue;
            }
            if let Some((kind, object)) = of_entry(&self.order, entry) {
                let headings = std::mem::take(&mut self.headings);
                lines.push_str(&line(&self.order, kind, &object, headings, now));
                count += 1;
            }
            if count == AT_ONCE {
                break;
            }
        }
        (count > 0).then(|| lines.into())
    }
}
