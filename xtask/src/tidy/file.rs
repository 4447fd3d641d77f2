//! A file under check, and what is wrong with it.

use std::fmt;

/// A text file of the repository.
#[derive(Debug)]
pub(super) struct File {
    path: String,
    lines: Vec<String>,
    /// How many of the lines come before the tests.
    code: usize,
}

/// A broken rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl File {
    /// The file at `path` (from the top folder, with slashes) that holds `text`.
    pub(super) fn new(path: &str, text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let code = if is_test(path) { 0 } else { tests_begin(&lines) };
        Self { path: path.to_owned(), lines, code }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The folder, from the top folder.
    pub(super) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    pub(super) fn is(&self, extension: &str) -> bool {
        self.name().rsplit_once('.').is_some_and(|(_, found)| found == extension)
    }

    /// Written by a program, so that no rule of style is for it.
    pub(super) fn is_generated(&self) -> bool {
        self.path.contains("/generated/") || ["Cargo.lock", "go.sum", "LICENSE"].contains(&self.name())
    }

    /// All lines with their numbers, from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.lines.iter().map(String::as_str))
    }

    /// The lines of tests with their numbers.
    pub(super) fn test_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().skip(self.code)
    }

    /// How many lines are no tests.
    pub(super) fn code_length(&self) -> usize {
        self.code
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n")
    }

    pub(super) fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A Rust file that is tests only. The first folder is a crate's, and one crate is called tests.
fn is_test(path: &str) -> bool {
    let inner = path.split_once('/').map_or("", |(_, inner)| inner);
    let is_rust = path.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs");
    is_rust
        && (inner == "tests.rs"
            || inner.split('/').any(|part| part == "tests")
            || inner.ends_with("/tests.rs"))
}

/// The number of lines before a module of tests, which comes last in a file.
fn tests_begin(lines: &[String]) -> usize {
    let begins = |pair: &[String]| matches!(pair, [mark, module] if mark.trim() == "#[cfg(test)]" && module.trim_start().starts_with("mod "));
    lines.windows(2).position(begins).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_of_tests_is_not_counted_as_code() {
        let file = File::new("a/src/b.rs", "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n");
        assert_eq!(file.code_length(), 2);
        assert_eq!(file.test_lines().map(|(number, _)| number).collect::<Vec<_>>(), [3, 4, 5, 6]);
    }

    #[test]
    fn a_single_item_for_tests_does_not_end_the_code() {
        let file = File::new("a/src/b.rs", "#[cfg(test)]\nfn helper() {}\nfn code() {}\n");
        assert_eq!(file.code_length(), 3);
    }

    #[test]
    fn files_of_tests_are_known_by_their_place() {
        for path in ["api/tests/a.rs", "tests/tests/a/main.rs", "api/src/b/tests.rs", "api/src/b/tests/c.rs"]
        {
            assert_eq!(File::new(path, "a\nb").code_length(), 0, "{path}");
        }
        for path in ["tests/src/lib.rs", "api/src/contests.rs", "tests/devcluster/main.go"] {
            assert_eq!(File::new(path, "a\nb").code_length(), 2, "{path}");
        }
    }
}
