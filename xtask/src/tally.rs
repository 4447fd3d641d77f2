//! How many tests ran: the sum over what all test binaries say.

use std::fmt;

/// Tests of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Those that ran and succeeded.
    pub(crate) passed: usize,
    /// Those that ran and did not succeed.
    pub(crate) failed: usize,
    /// Those that could not run here.
    pub(crate) skipped: usize,
}

impl Tally {
    /// Adds what `line` says, if it is the last line of a test binary.
    pub(crate) fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        self.passed += count(result, " passed");
        self.failed += count(result, " failed");
        self.skipped += count(result, " ignored");
    }

    /// Test binaries know nothing of skipping: such a test counted as passed.
    pub(crate) fn skip(&mut self, tests: usize) {
        self.passed = self.passed.saturating_sub(tests);
        self.skipped += tests;
    }

    /// How many tests there were.
    pub(crate) fn total(&self) -> usize {
        self.passed + self.failed + self.skipped
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// The number before `word`.
fn count(result: &str, word: &str) -> usize {
    let before = result.split(word).next().filter(|before| before.len() < result.len());
    before.and_then(|before| before.rsplit(' ').next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.add(line);
        }
        tally
    }

    #[test]
    fn the_last_lines_of_all_binaries_are_summed() {
        let tally = of(&[
            "running 2 tests",
            "test a ... ok",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
            "test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        ]);
        assert_eq!(tally, Tally { passed: 17, failed: 2, skipped: 1 });
        assert_eq!(tally.total(), 20);
    }

    #[test]
    fn what_a_test_prints_is_not_counted() {
        assert_eq!(of(&["  test result: ok. 5 passed", "7 passed; 1 failed"]), Tally::default());
    }

    #[test]
    fn a_skipped_test_is_no_passed_test() {
        let mut tally = of(&["test result: ok. 3 passed; 0 failed; 0 ignored"]);
        tally.skip(2);
        assert_eq!(tally.to_string(), "1 passed, 0 failed, 2 skipped");
    }
}
