//! What a ledger knows of a name.

use std::fmt;

use crate::ownership::fingerprint::Fingerprint;

/// Text that nobody else has, made for one entry: what bears it at the backend was made for that entry. 32 letters and
/// digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(String);

impl Token {
    pub(super) fn fresh() -> Self {
        Self(format!("{:032x}", rand::random::<u128>()))
    }

    pub(super) fn known(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a ledger knows of a name. That there is an entry means: something of that name may be at the backend, and is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<I> {
    /// For which request.
    pub request: Fingerprint,
    /// By which it can be found at the backend, if the backend was told.
    pub token: Token,
    /// The id that the backend chose, if that is known. It may be gone by now.
    pub id: Option<I>,
}
