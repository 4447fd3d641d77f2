//! Bucket ids: the S3 bucket name that users see, made of a fixed prefix and the name in the request.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An S3 bucket name: 3 to 63 characters of `[a-z0-9.-]`. Safe as a folder name: it neither starts with a dot nor has `..`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BucketId(Box<str>);

/// The text can't name an S3 bucket.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} can't be an S3 bucket name: it takes 3 to 63 characters of a-z, 0-9, '.' and '-', begins and ends with a letter or \
     digit, has no \"..\", doesn't begin with \"xn--\" and isn't an IP address"
)]
pub struct NotABucketName(String);

impl BucketId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BucketId {
    type Err = NotABucketName;

    fn from_str(text: &str) -> Result<Self, NotABucketName> {
        if s3s::path::check_bucket_name(text) {
            Ok(Self(text.into()))
        } else {
            Err(NotABucketName(text.into()))
        }
    }
}

impl TryFrom<String> for BucketId {
    type Error = NotABucketName;

    fn try_from(text: String) -> Result<Self, NotABucketName> {
        text.parse()
    }
}

impl From<BucketId> for String {
    fn from(id: BucketId) -> Self {
        id.0.into()
    }
}

impl fmt::Display for BucketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What stands before the name in an id; may be empty. At most 20 characters, so that `bc-<uid>` still fits behind it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IdPrefix(Box<str>);

/// The text can't begin an S3 bucket name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} can't begin an S3 bucket name: use at most 20 characters of a-z, 0-9 and '-', the first a letter or digit"
)]
pub struct BadPrefix(String);

impl IdPrefix {
    const MAX: usize = 20;

    /// The id for a name that has none yet.
    ///
    /// # Errors
    /// When prefix and name together can't be an S3 bucket name.
    pub fn id_for(&self, name: &str) -> Result<BucketId, NotABucketName> {
        format!("{}{name}", self.0).parse()
    }
}

impl FromStr for IdPrefix {
    type Err = BadPrefix;

    fn from_str(text: &str) -> Result<Self, BadPrefix> {
        let letters = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let usable =
            text.len() <= Self::MAX && letters && !text.starts_with('-') && !text.starts_with("xn--");
        if usable { Ok(Self(text.into())) } else { Err(BadPrefix(text.into())) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ab")]
    #[case("..")]
    #[case("../etc")]
    #[case("a/b")]
    #[case("a..b")]
    #[case(".hidden")]
    #[case("Upper")]
    #[case("10.0.0.1")]
    #[case("")]
    fn text_that_could_leave_the_folder_or_break_s3_rules_is_no_id(#[case] text: &str) {
        assert!(text.parse::<BucketId>().is_err());
    }

    #[test]
    fn an_id_has_at_most_63_characters_prefix_included() {
        let prefix: IdPrefix = "team-".parse().unwrap();
        assert!(prefix.id_for(&"a".repeat(58)).is_ok());
        assert!(prefix.id_for(&"a".repeat(59)).is_err());
    }

    #[test]
    fn the_longest_prefix_leaves_room_for_a_claim_name() {
        let prefix: IdPrefix = "p".repeat(IdPrefix::MAX).parse().unwrap();
        assert!(prefix.id_for("bc-123e4567-e89b-12d3-a456-426614174000").is_ok());
        assert!("p".repeat(IdPrefix::MAX + 1).parse::<IdPrefix>().is_err());
    }

    #[rstest]
    #[case("a/")]
    #[case("A")]
    #[case("-a")]
    #[case("a.")]
    #[case("xn--")]
    fn a_prefix_that_no_bucket_name_can_have_is_refused(#[case] text: &str) {
        assert!(text.parse::<IdPrefix>().is_err());
    }
}
