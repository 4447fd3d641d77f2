//! The writes of the recent past.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::Compacted;

/// What a write did to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new.
    Made,
    /// It was there before.
    Changed,
    /// It is gone.
    Removed,
}

/// One write.
#[derive(Debug)]
pub struct Entry {
    /// Its number.
    pub revision: u64,
    /// What it did.
    pub what: What,
    /// The resource that the object is of.
    pub resource: Arc<str>,
    /// The object's key.
    pub key: Arc<str>,
    /// The object after it; of a removed one, how it was last, with the revision of the removal.
    pub object: Arc<Value>,
    /// The object before it.
    pub previous: Option<Arc<Value>>,
}

/// Writes without gaps, up to the last one.
#[derive(Debug)]
pub(super) struct Log {
    entries: VecDeque<Arc<Entry>>,
    /// Everything after this revision is in `entries`.
    begin: u64,
    limit: usize,
}

impl Log {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: VecDeque::new(), begin: 1, limit }
    }

    pub(super) fn begin(&self) -> u64 {
        self.begin
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push_back(Arc::new(entry));
        while self.entries.len() > self.limit {
            self.forget_first();
        }
    }

    pub(super) fn forget_before(&mut self, revision: u64) {
        while self.entries.front().is_some_and(|first| first.revision <= revision) {
            self.forget_first();
        }
        self.begin = self.begin.max(revision);
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.entries.pop_front() {
            self.begin = self.begin.max(first.revision);
        }
    }

    pub(super) fn since(
        &self,
        revision: u64,
    ) -> Result<impl DoubleEndedIterator<Item = &Arc<Entry>>, Compacted> {
        if revision < self.begin {
            return Err(Compacted { oldest: self.begin });
        }
        let first = self.entries.partition_point(|entry| entry.revision <= revision);
        Ok(self.entries.range(first..))
    }
}
