//! The checks: each says what it is about, which requirements of the driver specification it is for, and tries it.

mod create;
mod create_form;
mod delete;
mod delete_by_name;
mod errors;
mod existing;
mod grant;
mod grant_answer;
mod grant_form;
mod keys;
mod late;
mod memory;
mod race;
mod revoke;
mod revoke_by_name;
mod socket;

use std::fmt;

use futures::future::BoxFuture;
use serde::Serialize;

use crate::bench::{Bench, Tried};

/// How bad it is to break a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A SHOULD: a warning.
    Should,
    /// A MUST: a failure.
    Must,
}

/// One thing that is tried.
pub struct Check {
    /// What must hold, as a sentence in lower case with dashes.
    pub id: &'static str,
    /// Whether breaking it is a failure or a warning.
    pub severity: Severity,
    /// The requirements of the driver specification that it is for.
    pub requirements: &'static [&'static str],
    /// What is done, and what is expected.
    pub description: &'static str,
    /// Checks without which this one says nothing: it is skipped unless they passed.
    pub needs: &'static [&'static str],
    pub(crate) run: for<'a> fn(&'a Bench) -> BoxFuture<'a, Tried>,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Check({})", self.id)
    }
}

/// Checks about one thing.
#[derive(Debug)]
pub struct Group {
    /// What they are about.
    pub title: &'static str,
    /// In the order in which they are run.
    pub checks: &'static [Check],
}

/// All checks, in the order in which they are run.
pub static GROUPS: &[Group] = &[
    Group { title: "The driver and its socket", checks: socket::CHECKS },
    Group { title: "Making buckets", checks: create::CHECKS },
    Group { title: "Deleting buckets", checks: delete::CHECKS },
    Group { title: "Requests for buckets", checks: create_form::CHECKS },
    Group { title: "Existing buckets", checks: existing::CHECKS },
    Group { title: "Deleting buckets by name", checks: delete_by_name::CHECKS },
    Group { title: "Granting access", checks: grant::CHECKS },
    Group { title: "Revoking access", checks: revoke::CHECKS },
    Group { title: "Requests for access", checks: grant_form::CHECKS },
    Group { title: "Revoking access by name", checks: revoke_by_name::CHECKS },
    Group { title: "What keys can do", checks: keys::CHECKS },
    Group { title: "Many calls at once", checks: race::CHECKS },
    Group { title: "Time", checks: late::CHECKS },
    Group { title: "Memory", checks: memory::CHECKS },
    Group { title: "Errors, over the whole run", checks: errors::CHECKS },
];

/// All checks, in the order in which they are run.
pub fn all() -> impl Iterator<Item = &'static Check> {
    GROUPS.iter().flat_map(|group| group.checks)
}

/// Checks that others build upon.
pub(crate) mod base {
    pub(crate) const BUCKET: &str = "a-bucket-can-be-made";
    pub(crate) const BUCKET_ID: &str = "the-id-of-a-bucket-is-valid";
    pub(crate) const BUCKET_AGAIN: &str = "a-repeated-create-answers-the-same-bucket";
    pub(crate) const BUCKET_INFO: &str = "a-new-bucket-comes-with-protocol-info";
    pub(crate) const NAME_TAKEN: &str = "a-name-taken-with-other-parameters-is-refused";
    pub(crate) const DELETE: &str = "a-bucket-can-be-deleted";
    pub(crate) const EXISTING: &str = "an-existing-bucket-is-found";
    pub(crate) const DELETE_BY_NAME: &str = "a-bucket-can-be-deleted-by-name";
    pub(crate) const GONE_BY_NAME: &str = "a-bucket-deleted-by-name-is-gone";
    pub(crate) const GRANT: &str = "access-can-be-granted";
    pub(crate) const ACCOUNT_ID: &str = "the-id-of-an-account-is-valid";
    pub(crate) const ACCOUNT_AGAIN: &str = "a-repeated-grant-answers-the-same-account";
    pub(crate) const GRANT_INFO: &str = "a-grant-answers-exactly-what-was-asked-for";
    pub(crate) const ACCOUNT_TAKEN: &str = "an-account-name-taken-by-another-grant-is-refused";
    pub(crate) const KEY: &str = "a-granted-key-works";
    pub(crate) const REVOKE: &str = "access-can-be-revoked";
    pub(crate) const REVOKE_BY_NAME: &str = "access-can-be-revoked-by-name";
    pub(crate) const REVOKED_BY_NAME: &str = "an-account-revoked-by-name-is-gone";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_sentences_and_unique() {
        let mut seen = BTreeSet::new();
        for check in all() {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(check.id.chars().all(plain) && check.id.split('-').count() > 2, "{}", check.id);
        }
    }

    #[test]
    fn each_check_names_requirements_and_says_what_it_does() {
        for check in all() {
            assert!(!check.requirements.is_empty(), "{}", check.id);
            assert!(check.requirements.iter().all(|id| id.starts_with("COSI-")), "{}", check.id);
            assert!(check.description.ends_with('.'), "{}", check.id);
        }
    }

    #[test]
    fn what_a_check_needs_runs_before_it() {
        let mut before = BTreeSet::new();
        for check in all() {
            for need in check.needs {
                assert!(before.contains(need), "{} needs {need}", check.id);
            }
            before.insert(check.id);
        }
    }
}
