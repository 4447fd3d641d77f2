//! What was printed, and how two servers' prints are compared.

use std::fmt::Write as _;

/// What all commands of a script printed.
pub(crate) struct Transcript(pub(crate) Vec<Entry>);

/// What one command printed, without what differs from run to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) command: String,
    /// None if it was ended by us.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Transcript {
    /// What the first command that contains all these words printed.
    pub(crate) fn of(&self, words: &str) -> &Entry {
        self.0.iter().find(|entry| entry.command.contains(words)).unwrap_or_else(|| panic!("no {words}"))
    }
}

/// A text without names, uids, times, ages, revisions and addresses.
pub(crate) fn plain(text: &str, prefix: &str) -> String {
    let rules = [
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (r#"(resourceVersion"?: )"\d+""#, "${1}RV"),
        (r"(Resource Version:  +)\d+", "${1}RV"),
        (r"(?m)(^|  )\d+(s|m\d*s?)( +|$)", "${1}AGE  "),
        (r"127\.0\.0\.1:\d+", "ADDRESS"),
    ];
    rules.iter().fold(text.replace(prefix, "PREFIX"), |text, (pattern, with)| {
        regex::Regex::new(pattern).unwrap().replace_all(&text, *with).into_owned()
    })
}

/// Fails with all commands that did not print the same with both servers.
pub(crate) fn assert_same(real: &Transcript, ours: &Transcript) {
    let mut told = String::new();
    for (real, ours) in real.0.iter().zip(&ours.0) {
        if real != ours {
            let _ = write!(
                told,
                "\n$ {}\n--- real ({:?})\n{}{}--- ours ({:?})\n{}{}",
                real.command, real.code, real.stdout, real.stderr, ours.code, ours.stdout, ours.stderr
            );
        }
    }
    assert!(told.is_empty(), "kubectl does not print the same with both servers:{told}");
    assert_eq!(real.0.len(), ours.0.len());
}
