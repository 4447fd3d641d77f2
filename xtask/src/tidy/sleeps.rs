//! Tests that sleep: slow on a fast machine, wrong on a slow one. A test waits for the thing itself, with a deadline;
//! where it can only look again and again, the pause between two looks is named `POLL`.

use super::file::{File, Finding};

const CALL: &str = concat!("sle", "ep(");

pub(super) fn in_tests(file: &File) -> Vec<Finding> {
    if !file.is("rs") {
        return Vec::new();
    }
    let sleeps = file.test_lines().filter(|(_, line)| is_sleep(line));
    sleeps
        .map(|(number, _)| file.finding(number, "a test sleeps; wait for the thing, with a deadline"))
        .collect()
}

fn is_sleep(line: &str) -> bool {
    // Functions whose names end with the word, and comments, are something else.
    let before = line.split(CALL).next().filter(|before| before.len() < line.len());
    let calls = before.is_some_and(|before| {
        !before.contains("//") && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    });
    calls && !before.is_some_and(|before| before.ends_with("fn ")) && !line.contains("POLL")
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
    fn code_may_sleep_and_so_may_a_poll() {
        assert_eq!(findings("a/src/b.rs", &format!("thread::{CALL}PAUSE)")), 0);
        assert_eq!(findings("a/tests/b.rs", &format!("thread::{CALL}POLL)")), 0);
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
