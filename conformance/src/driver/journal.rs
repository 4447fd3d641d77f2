//! What the driver said and handed out during a run: for the checks on all errors, and to keep secrets out of reports.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tonic::Code;

use super::failure::{Failure, Kind};

/// Shorter values are no secrets, and would be found in any text.
const SECRET: usize = 8;

/// An error that the driver answered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Refused {
    pub(crate) rpc: &'static str,
    pub(crate) code: i32,
    pub(crate) message: String,
    /// Length of the status' details, in bytes.
    pub(crate) details: usize,
}

impl Refused {
    pub(crate) fn code(&self) -> Code {
        Code::from_i32(self.code)
    }
}

/// Everything that is to be remembered.
#[derive(Default)]
pub(crate) struct Journal(Mutex<State>);

#[derive(Default)]
struct State {
    refused: BTreeSet<Refused>,
    credentials: BTreeSet<String>,
    hidden: BTreeSet<String>,
}

impl State {
    fn secrets(&self) -> impl Iterator<Item = &String> {
        self.credentials.iter().chain(&self.hidden)
    }
}

impl Journal {
    pub(crate) fn refused(&self, failure: &Failure) {
        if let Kind::Answered { code, message, details } = &failure.kind {
            self.lock().refused.insert(Refused {
                rpc: failure.rpc,
                code: *code as i32,
                message: message.clone(),
                details: *details,
            });
        }
    }

    /// Credentials in an answer.
    pub(crate) fn handed_out(&self, secrets: impl IntoIterator<Item = String>) {
        self.lock().credentials.extend(secrets.into_iter().filter(|secret| secret.len() >= SECRET));
    }

    /// Whatever else is not to be printed.
    pub(crate) fn hide(&self, secrets: impl IntoIterator<Item = String>) {
        self.lock().hidden.extend(secrets.into_iter().filter(|secret| secret.len() >= SECRET));
    }

    /// Every different error so far.
    pub(crate) fn all_refused(&self) -> Vec<Refused> {
        self.lock().refused.iter().cloned().collect()
    }

    /// Whether a credential is in the text.
    pub(crate) fn gives_away(&self, text: &str) -> bool {
        self.lock().credentials.iter().any(|secret| text.contains(secret.as_str()))
    }

    /// The text without credentials.
    pub(crate) fn redact(&self, text: &str) -> String {
        let state = self.lock();
        // The longest first: one may be part of another.
        let mut secrets: Vec<&String> = state.secrets().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "(secret)"))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I7.
    #[test]
    fn a_credential_is_cut_out_of_any_text_whatever_part_of_another_it_is() {
        let journal = Journal::default();
        journal.handed_out(["12345678".to_owned(), "123456789".to_owned(), "short".to_owned()]);
        assert_eq!(journal.redact("key 123456789, 12345678, short"), "key (secret), (secret), short");
        assert!(journal.gives_away("a12345678b") && !journal.gives_away("short"));
        journal.hide(["a-parameter".to_owned()]);
        assert_eq!(journal.redact("a-parameter"), "(secret)");
        assert!(!journal.gives_away("a-parameter"));
    }
}
