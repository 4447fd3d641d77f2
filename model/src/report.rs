//! What a search found, for a person.

use std::fmt;

use crate::Invariant;

/// A way to a broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// What was broken.
    pub invariant: Invariant,
    /// Who did what, in order; the last lines say what is left.
    pub path: Vec<String>,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} is broken:", self.invariant)?;
        self.path.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// The outcome of one or several searches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// How many worlds were searched.
    pub worlds: usize,
    /// Steps that were taken; several can lead to the same state.
    pub states: usize,
    /// Different states.
    pub unique_states: usize,
    /// The length of the longest way.
    pub depth: usize,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Empty if no invariant can be broken.
    pub violations: Vec<Counterexample>,
}

impl Report {
    /// This report and another one in one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.worlds += other.worlds;
        self.states += other.states;
        self.unique_states += other.unique_states;
        self.depth = self.depth.max(other.depth);
        self.seconds += other.seconds;
        self.violations.extend(other.violations);
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violations.iter().try_for_each(|violation| writeln!(f, "{violation}"))?;
        write!(
            f,
            "{} worlds, {} states ({} steps, depth {}), {} violations, {:.1} s",
            self.worlds,
            self.unique_states,
            self.states,
            self.depth,
            self.violations.len(),
            self.seconds
        )
    }
}
