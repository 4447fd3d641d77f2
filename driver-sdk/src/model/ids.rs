//! Names and ids.

use std::fmt;
use std::str::FromStr;

use super::value::{self, InvalidValue};

macro_rules! checked_string {
    ($($(#[$doc:meta])* $name:ident, $subject:literal, $rule:path;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it is.
            ///
            /// # Errors
            /// If the text breaks the rule of this type.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidValue> {
                let text = text.into();
                match $rule(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(problem) => Err(InvalidValue::new($subject, problem)),
                }
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::new(text)
            }
        }
    )*};
}

checked_string! {
    /// What a bucket is to be called: the idempotency key of a create. A DNS-1123 subdomain of at most 253 characters
    /// (COSI-GEN-9).
    BucketName, "bucket name", value::dns1123_subdomain;
    /// What an account is to be called: the idempotency key of a grant. A DNS-1123 subdomain of at most 253
    /// characters (COSI-GEN-9).
    AccountName, "account name", value::dns1123_subdomain;
    /// How the driver finds a bucket again: 1 to 2048 characters of `[a-zA-Z0-9/._-]` (COSI-GEN-10).
    BucketId, "bucket id", value::id;
    /// How the driver finds an account again: 1 to 2048 characters of `[a-zA-Z0-9/._-]` (COSI-GEN-10).
    AccountId, "account id", value::id;
}
