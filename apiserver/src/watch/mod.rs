//! Streams of changes.
//!
//! A watch is a place in the store's history and a filter. It reads on whenever something was written, so that a slow
//! reader costs no memory; one that falls behind the kept history is told so (410) and ends, as with a real API server.

mod event;
mod stream;

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;

use crate::http::{Answered, Selector};
use crate::schema::Kind;
use crate::service::Shared;

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// With all objects that are there; then, for who wants bookmarks, one that says that these were all.
    Initial,
    /// With the next change.
    Now,
    /// With the first change after this revision.
    After(u64),
}

/// What is watched, and how.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) kind: Arc<Kind>,
    /// Empty for all.
    pub(crate) namespace: String,
    pub(crate) selector: Selector,
    pub(crate) begin: Begin,
    pub(crate) bookmarks: bool,
    /// After how many seconds the watch ends.
    pub(crate) seconds: Option<u64>,
    pub(crate) form: Answered,
}

/// Begins a watch. The stream's pieces are whole lines, one for each change.
pub(crate) fn watch(shared: &Arc<Shared>, order: Order) -> BoxStream<'static, Bytes> {
    stream::begin(shared, order)
}
