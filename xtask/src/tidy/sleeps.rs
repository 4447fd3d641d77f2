//! Tests that sleep: slow on a fast machine, wrong on a slow one. A test waits for the thing itself, with a deadline.
//!
//! Where it can only look again and again, it looks at the deadline, too, in the lines before it pauses. Microseconds,
//! which spread the moments of a race, are nothing that one could wait by.

use super::file::{File, Finding};

const CALL: &str = concat!("sle", "ep(");
/// How many lines before the pause the deadline may be looked at.
const NEAR: usize = 5;

pub(super) fn in_tests(file: &File) -> Vec<Finding> {
    if !file.is("rs") {
        return Vec::new();
    }
    let mut deadline = 0;
    let mut findings = Vec::new();
    for (number, line) in file.test_lines() {
        if line.contains("Instant::now() >") || line.contains("Instant::now() <") {
            deadline = number;
        }
        let polls = deadline > 0 && number - deadline <= NEAR;
        if is_sleep(line) && !polls && !line.contains("from_micros(") {
            findings.push(file.finding(number, "a test sleeps; wait for the thing, with a deadline"));
        }
    }
    findings
}

fn is_sleep(line: &str) -> bool {
    // Functions whose names end with the word, and comments, are something else.
    let before = line.split(CALL).next().filter(|before| before.len() < line.len());
    before.is_some_and(|before| {
        let other = before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || before.ends_with("fn ");
        !other && !before.contains("//")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        in_tests(&File::new(path, text)).len()
    }

    #[test]
    fn every_way_to_sleep_in_a_test_is_found() {
        for path in ["thread::", "std::thread::", "tokio::time::", "time::", ""] {
            let line = format!("    {path}{CALL}SECOND).await;");
            assert_eq!(findings("a/tests/b.rs", &line), 1, "{line}");
            assert_eq!(
                findings("a/src/b.rs", &format!("#[cfg(test)]\nmod tests {{\n{line}\n}}")),
                1,
                "{line}"
            );
        }
    }

    #[test]
    fn code_may_sleep_and_so_may_a_test_that_looks_at_a_deadline_before() {
        assert_eq!(findings("a/src/b.rs", &format!("thread::{CALL}PAUSE)")), 0);
        let poll = |lines| {
            let between = "\n".repeat(lines);
            format!(
                "while !there() {{\n    assert!(Instant::now() < deadline);{between}    {CALL}PAUSE);\n}}"
            )
        };
        assert_eq!(findings("a/tests/b.rs", &poll(NEAR)), 0);
        assert_eq!(findings("a/tests/b.rs", &poll(NEAR + 1)), 1);
    }

    #[test]
    fn a_race_may_be_spread_by_microseconds() {
        assert_eq!(findings("a/tests/b.rs", &format!("{CALL}Duration::from_micros(200))")), 0);
    }

    #[test]
    fn what_only_looks_like_it_is_none() {
        for line in
            [format!("asyncio_{CALL}x)"), format!("// {CALL}x) would be wrong"), format!("fn {CALL})")]
        {
            assert_eq!(findings("a/tests/b.rs", &line), 0, "{line}");
        }
    }
}
