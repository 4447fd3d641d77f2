//! What the proxy remembers: every request, in the order of arrival.

use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::matching::Match;
use super::request::Request;
use crate::lock;

/// One request and what became of it. Times count from the start of the proxy.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it came.
    pub at: Duration,
    /// What it asked for.
    pub request: Request,
    /// Whether it was passed on to the API server.
    pub forwarded: bool,
    /// HTTP status of the API server's own answer.
    pub upstream: Option<u16>,
    /// HTTP status that the client was given; none while it waits, or if it never was.
    pub answered: Option<u16>,
    /// When the answer was given (a watch's: begun) or its connection cut.
    pub ended: Option<Duration>,
}

impl Entry {
    /// Whether the API server did what was asked, whatever the client was told.
    #[must_use]
    pub fn applied(&self) -> bool {
        self.upstream.is_some_and(|code| (200..300).contains(&code))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:9.3}s  {}", self.at.as_secs_f64(), self.request)?;
        match (self.forwarded, self.upstream) {
            (false, _) => f.write_str("  not forwarded")?,
            (true, None) => f.write_str("  forwarded")?,
            (true, Some(code)) => write!(f, "  upstream {code}")?,
        }
        match (self.ended, self.answered) {
            (None, _) => f.write_str(", waiting"),
            (Some(at), None) => write!(f, ", cut at {:.3}s", at.as_secs_f64()),
            (Some(_), Some(code)) if self.upstream == Some(code) => Ok(()),
            (Some(at), Some(code)) => write!(f, ", told {code} at {:.3}s", at.as_secs_f64()),
        }
    }
}

/// A point in a log's time, to count from.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

/// A copy of the log. Display prints it line by line.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The requests in order of arrival.
    pub entries: Vec<Entry>,
}

impl Log {
    /// Only what matches.
    #[must_use]
    pub fn only(mut self, which: &Match) -> Self {
        self.entries.retain(|entry| which.matches(&entry.request));
        self
    }

    /// Only what came after the mark. Use it before [`Log::only`].
    #[must_use]
    pub fn since(mut self, mark: Mark) -> Self {
        self.entries.drain(..mark.0.min(self.entries.len()));
        self
    }

    /// How many match.
    #[must_use]
    pub fn count(&self, which: &Match) -> usize {
        self.entries.iter().filter(|entry| which.matches(&entry.request)).count()
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

/// The log being written.
pub(super) struct Recorder {
    start: Instant,
    entries: Mutex<Vec<Entry>>,
    /// Counts every change of `entries`.
    pub(super) changes: watch::Sender<u64>,
}

impl Recorder {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), entries: Mutex::default(), changes: watch::Sender::new(0) }
    }

    pub(super) fn arrival(&self, request: Request) -> usize {
        let entry = Entry {
            at: self.start.elapsed(),
            request,
            forwarded: false,
            upstream: None,
            answered: None,
            ended: None,
        };
        let mut entries = lock(&self.entries);
        entries.push(entry);
        let index = entries.len() - 1;
        drop(entries);
        self.changed();
        index
    }

    pub(super) fn forwarded(&self, index: usize) {
        self.change(index, |entry| entry.forwarded = true);
    }

    pub(super) fn upstream(&self, index: usize, code: u16) {
        self.change(index, |entry| entry.upstream = Some(code));
    }

    /// The end of it: an answer, or a cut connection.
    pub(super) fn ended(&self, index: usize, answered: Option<u16>) {
        let at = self.start.elapsed();
        self.change(index, |entry| (entry.answered, entry.ended) = (answered, Some(at)));
    }

    fn change(&self, index: usize, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = lock(&self.entries).get_mut(index) {
            change(entry);
        }
        self.changed();
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(lock(&self.entries).len())
    }

    pub(super) fn log(&self) -> Log {
        Log { entries: lock(&self.entries).clone() }
    }

    pub(super) fn count(&self, mark: Mark, which: &Match, also: impl Fn(&Entry) -> bool) -> usize {
        let wanted = |entry: &&Entry| which.matches(&entry.request) && also(entry);
        lock(&self.entries).iter().skip(mark.0).filter(wanted).count()
    }
}

impl Mark {
    pub(super) const START: Self = Self(0);
}
