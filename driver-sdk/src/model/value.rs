//! Rules for single values, and what is wrong with one that breaks them.

/// A value breaks a rule of the protocol. The text names the value's role, never the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{subject} {problem}")]
pub struct InvalidValue {
    subject: String,
    problem: Problem,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Nothing there, but something is needed.
    #[error("is empty")]
    Empty,
    /// Longer than the protocol allows.
    #[error("is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A character that may not stand there.
    #[error("holds {found:?}; only {allowed} may be in it")]
    Character {
        /// The first character that may not stand there.
        found: char,
        /// Which characters may.
        allowed: &'static str,
    },
    /// Another form than the protocol wants.
    #[error("is not {expected}")]
    Form {
        /// The form that it wants.
        expected: &'static str,
    },
    /// UNKNOWN, or a number from a later version of the protocol.
    #[error("is unknown or not set")]
    Unknown,
    /// The same thing twice in a list.
    #[error("names the same thing twice")]
    Twice,
}

impl InvalidValue {
    pub(crate) fn new(subject: impl Into<String>, problem: Problem) -> Self {
        Self { subject: subject.into(), problem }
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// Longest name, in bytes (COSI-GEN-9).
pub(crate) const MAX_NAME: usize = 253;
const MAX_ID: usize = 2048;
const MAX_DRIVER_NAME: usize = 63;

pub(crate) fn at_most(value: &str, limit: usize) -> Result<(), Problem> {
    if value.len() > limit { Err(Problem::TooLong { limit }) } else { Ok(()) }
}

fn size(value: &str, limit: usize) -> Result<(), Problem> {
    if value.is_empty() { Err(Problem::Empty) } else { at_most(value, limit) }
}

/// COSI-GEN-10.
pub(crate) fn id(value: &str) -> Result<(), Problem> {
    size(value, MAX_ID)?;
    match value.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '/' | '.' | '_' | '-')) {
        Some(found) => Err(Problem::Character { found, allowed: "letters, digits and / . _ -" }),
        None => Ok(()),
    }
}

/// COSI-GEN-9.
pub(crate) fn dns1123_subdomain(value: &str) -> Result<(), Problem> {
    size(value, MAX_NAME)?;
    let fits = value.split('.').all(|label| is_label(label, |first| first.is_ascii_alphanumeric()));
    if fits { Ok(()) } else { Err(Problem::Form { expected: "a lower-case DNS-1123 subdomain" }) }
}

/// The name of a driver.
pub(crate) fn driver_name(value: &str) -> Result<(), Problem> {
    size(value, MAX_DRIVER_NAME)?;
    let fits = value.split('.').all(|label| is_label(label, |first| first.is_ascii_alphabetic()));
    if fits { Ok(()) } else { Err(Problem::Form { expected: "lower-case RFC 1035 labels joined by dots" }) }
}

fn is_label(label: &str, may_begin: impl Fn(char) -> bool) -> bool {
    let (first, last) = (label.chars().next(), label.chars().next_back());
    first.is_some_and(may_begin)
        && last.is_some_and(|c| c != '-')
        && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("bc-0a1b", true)]
    #[case("a.b-c.0", true)]
    #[case("0", true)]
    #[case("", false)]
    #[case("A", false)]
    #[case("-a", false)]
    #[case("a-", false)]
    #[case("a..b", false)]
    #[case(".a", false)]
    #[case("a.", false)]
    #[case("a_b", false)]
    #[case("ä", false)]
    #[case("a\0", false)]
    fn a_name_is_a_dns1123_subdomain(#[case] name: &str, #[case] fits: bool) {
        assert_eq!(dns1123_subdomain(name).is_ok(), fits);
    }

    #[test]
    fn a_name_has_253_bytes_at_most() {
        assert!(dns1123_subdomain(&"a".repeat(253)).is_ok());
        assert_eq!(dns1123_subdomain(&"a".repeat(254)), Err(Problem::TooLong { limit: 253 }));
    }

    /// C39.
    #[rstest]
    #[case("plain-1", true)]
    #[case("prefix/and_more.X", true)]
    #[case("/", true)]
    #[case("", false)]
    #[case("a b", false)]
    #[case("a\n", false)]
    #[case("ü", false)]
    #[case("a:b", false)]
    fn an_id_has_letters_digits_and_four_more_characters(#[case] value: &str, #[case] fits: bool) {
        assert_eq!(id(value).is_ok(), fits);
    }

    /// C39.
    #[test]
    fn an_id_has_2048_characters_at_most() {
        assert!(id(&"x".repeat(2048)).is_ok());
        assert_eq!(id(&"x".repeat(2049)), Err(Problem::TooLong { limit: 2048 }));
    }

    #[rstest]
    #[case("sample.objectstorage.example.com", true)]
    #[case("a", true)]
    #[case("1a", false)]
    #[case("a.1", false)]
    #[case("Sample", false)]
    #[case("a-", false)]
    #[case("", false)]
    fn a_driver_name_is_made_of_rfc1035_labels(#[case] name: &str, #[case] fits: bool) {
        assert_eq!(driver_name(name).is_ok(), fits);
        assert_eq!(driver_name(&"a".repeat(64)), Err(Problem::TooLong { limit: 63 }));
    }
}
