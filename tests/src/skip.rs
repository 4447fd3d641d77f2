//! Tests that cannot run here say so, where somebody looks.

use std::{env, fs::OpenOptions, io::Write as _};

/// The variable that names the file to which skipped tests are appended, one line each.
pub const SKIP_LOG: &str = "TEST_SKIP_LOG";

/// Reports that the test `test` does not run, and why; the caller returns right after.
///
/// The line goes to stderr and, since test runners swallow that of a passing test, to the file named by
/// [`SKIP_LOG`], which `cargo xtask test` prints at its end.
///
/// # Panics
/// With `CI=true`: there everything that a test needs must be installed, so a skipped test is a failed one.
pub fn report(test: &str, reason: &str) {
    let line = format!("SKIPPED: {test}: {reason}");
    let ci = env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!ci, "{line} (in CI this is a failure)");
    eprintln!("{line}");
    if let Some(path) = env::var_os(SKIP_LOG)
        && let Err(error) = append(path.as_ref(), &line)
    {
        eprintln!("cannot write {}: {error}", path.to_string_lossy());
    }
}

/// Appends in one write, so that lines of several test binaries do not mix.
fn append(path: &std::path::Path, line: &str) -> std::io::Result<()> {
    let mut log = OpenOptions::new().create(true).append(true).open(path)?;
    log.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn skipped_tests_are_appended_one_line_each() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("skips");
        append(&log, "SKIPPED: a: no Go").unwrap();
        append(&log, "SKIPPED: b: no Go").unwrap();
        assert_eq!(std::fs::read_to_string(log).unwrap(), "SKIPPED: a: no Go\nSKIPPED: b: no Go\n");
    }
}
