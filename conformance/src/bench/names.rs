//! Names for what is made, each used once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// As long as the names that a sidecar sends: `bc-` and a UID. A backend that can't hold them is of no use.
const USUAL: usize = 39;
/// Longest name (COSI-GEN-9).
pub(crate) const LONGEST: usize = 253;
/// Longest part of a DNS-1123 name between two dots.
const LABEL: usize = 63;

/// Names that begin alike in one run, and not like those of another.
pub(crate) struct Names {
    start: String,
    next: AtomicUsize,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { start: format!("{prefix}{:08x}", rand::random::<u32>()), next: AtomicUsize::new(1) }
    }

    /// A new name of the usual length, or longer if the prefix is long.
    pub(crate) fn name(&self) -> String {
        let (start, number) = (&self.start, self.next.fetch_add(1, Ordering::Relaxed));
        let width = USUAL.saturating_sub(start.len() + 1).max(5);
        format!("{start}-{number:0width$}")
    }

    /// The same name with a tail, so that it has exactly the longest length; names with different tails are alike but for their end.
    pub(crate) fn longest(name: &str, tail: char) -> String {
        let mut long = name.to_owned();
        let mut label = name.rsplit('.').next().map_or(0, str::len);
        while long.len() < LONGEST {
            // No label may begin or end with a dot's neighbour missing: a dot never comes last.
            let dot = label == LABEL && long.len() + 1 < LONGEST;
            long.push(if dot { '.' } else { 'x' });
            label = if dot { 0 } else { label + 1 };
        }
        long.pop();
        long.push(tail);
        long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_new_and_as_long_as_a_sidecars() {
        let names = Names::new("conformance-");
        let (one, two) = (names.name(), names.name());
        assert_ne!(one, two);
        assert_eq!((one.len(), two.len()), (USUAL, USUAL));
        assert_ne!(Names::new("conformance-").name(), one);
    }

    #[test]
    fn the_longest_names_keep_to_the_rules_of_names_and_differ_only_at_the_end() {
        for prefix in ["a", "conformance-", "with.a-dot-"] {
            let name = Names::new(prefix).name();
            let (one, two) = (Names::longest(&name, 'a'), Names::longest(&name, 'b'));
            assert_eq!((one.len(), &one[..252]), (LONGEST, &two[..252]));
            assert!(one.split('.').all(|label| (1..=63).contains(&label.len())), "{one}");
        }
    }
}
