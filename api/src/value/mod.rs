//! Ids and names that can't hold an invalid value.
//!
//! Each is made by `parse()` or `TryFrom<String>`, which check it, and is compact: two words and the text itself,
//! since tens of thousands of them are held at a time.

mod check;

pub use check::InvalidValue;
pub(crate) use check::{MAX_DRIVER_NAME, MAX_ID, MAX_NAME};

/// Defines a string type whose only way in is a check.
macro_rules! checked_string {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// The text, as on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidValue;

            fn try_from(text: String) -> Result<Self, InvalidValue> {
                $check($what, &text)?;
                Ok(Self(text.into()))
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                $check($what, text)?;
                Ok(Self(text.into()))
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0.into()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

checked_string! {
    /// What a driver calls a bucket: 1–2048 characters of `[a-zA-Z0-9/._-]`.
    BucketId, "bucket id", check::id
}

checked_string! {
    /// What a driver calls an account (who may access buckets): 1–2048 characters of `[a-zA-Z0-9/._-]`.
    AccountId, "account id", check::id
}

checked_string! {
    /// A driver's name: RFC 1035 labels joined by dots, lower case, at most 63 characters.
    ///
    /// The CRDs accept a little more (capitals, a leading digit). No driver can bear such a name, so an object that
    /// names one belongs to nobody.
    DriverName, "driver name", check::driver_name
}

checked_string! {
    /// The idempotency key of a bucket (R2): the name of the `Bucket` object, a DNS-1123 subdomain of at most 253
    /// characters.
    BucketName, "bucket name", check::resource_name
}

checked_string! {
    /// The idempotency key of an account (R2): derived from the UID of the `BucketAccess`, a DNS-1123 subdomain of at
    /// most 253 characters.
    AccountName, "account name", check::resource_name
}

impl BucketName {
    /// The name of the `Bucket` that a controller makes for the claim with this UID.
    ///
    /// # Errors
    /// If the UID has characters that a name can't have. UIDs made by an API server never do.
    pub fn for_claim(claim_uid: &str) -> Result<Self, InvalidValue> {
        Self::try_from(format!("bc-{claim_uid}"))
    }
}

impl AccountName {
    /// The name of the account for the `BucketAccess` with this UID.
    ///
    /// # Errors
    /// If the UID has characters that a name can't have. UIDs made by an API server never do.
    pub fn for_access(access_uid: &str) -> Result<Self, InvalidValue> {
        Self::try_from(format!("ba-{access_uid}"))
    }
}

#[cfg(test)]
mod tests;
