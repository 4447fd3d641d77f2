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
    /// What.
    pub what: String,
}

impl Trace {
    pub(crate) fn new(kept: bool) -> Self {
        Self { hash: DefaultHasher::new(), lines: kept.then(Vec::new), scratch: String::new() }
    }

    pub(crate) fn add(&mut self, at: Duration, who: Who, what: fmt::Arguments<'_>) {
        self.scratch.clear();
        // Writing to a text cannot fail.
        let _ = self.scratch.write_fmt(what);
        at.hash(&mut self.hash);
        who.hash(&mut self.hash);
        self.scratch.hash(&mut self.hash);
        if let Some(lines) = &mut self.lines {
            lines.push(Line { at, who, what: self.scratch.clone() });
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }

    pub(crate) fn into_lines(self) -> Vec<Line> {
        self.lines.unwrap_or_default()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.who {
            Who::Somebody => "somebody".to_owned(),
            Who::Sidecar(number) => format!("sidecar {number}"),
            Who::Driver => "driver".to_owned(),
            Who::World => "·".to_owned(),
        };
        write!(f, "{:9.3}s  {who:<10} {}", self.at.as_secs_f64(), self.what)
    }
}
