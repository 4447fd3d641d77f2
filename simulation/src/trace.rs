//! What happened in a run, for people and as a number.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A person, or the controller.
    Somebody,
    /// The sidecar of that number, from 0.
    Sidecar(usize),
    /// The API server.
    ApiServer,
    /// The driver, or its backend.
    Driver,
    /// The simulation itself.
    World,
}

/// The record of a run. Everything counts for the hash; lines are kept only if somebody is to read them.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: DefaultHasher,
    lines: Option<Vec<Line>>,
    scratch: String,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Line {
    /// Since the beginning.
    pub at: Duration,
    /// Who did it.
    pub who: Who,
    /// To whom; the same if to nobody.
    pub whom: Who,
    /// What.
    pub what: String,
}

impl Trace {
    pub(crate) fn new(kept: bool) -> Self {
        Self { hash: DefaultHasher::new(), lines: kept.then(Vec::new), scratch: String::new() }
    }

    pub(crate) fn add(&mut self, at: Duration, (who, whom): (Who, Who), what: fmt::Arguments<'_>) {
        self.scratch.clear();
        // Writing to a text cannot fail.
        let _ = self.scratch.write_fmt(what);
        at.hash(&mut self.hash);
        (who, whom).hash(&mut self.hash);
        self.scratch.hash(&mut self.hash);
        if let Some(lines) = &mut self.lines {
            lines.push(Line { at, who, whom, what: self.scratch.clone() });
        }
    }

    /// What the lines tell only in part counts whole.
    pub(crate) fn note(&mut self, whole: &[u8]) {
        whole.hash(&mut self.hash);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }

    pub(crate) fn into_lines(self) -> Vec<Line> {
        self.lines.unwrap_or_default()
    }
}
