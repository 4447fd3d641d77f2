//! The list of all checks, as a person reads it and as the documents have it.

use std::fmt::Write as _;

use crate::checks::{Check, GROUPS, Severity};

/// All checks in Markdown: a section for each group, a list item for each check.
#[must_use]
pub fn list() -> String {
    let mut text = String::new();
    for group in GROUPS {
        // Writing to a String can't fail.
        let _ok = writeln!(text, "### {}\n", group.title);
        for check in group.checks {
            let _ok = writeln!(text, "{}", item(check));
        }
        text.push('\n');
    }
    text
}

fn item(check: &Check) -> String {
    let word = match check.severity {
        Severity::Must => "MUST",
        Severity::Should => "SHOULD",
    };
    format!("- `{}` ({word}; {}): {}", check.id, check.requirements.join(", "), check.description)
}
