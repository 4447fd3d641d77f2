//! Credentials, in types that can't be printed (I7, COSI-SECRET-1).

use std::fmt;

use super::protocol::Protocol;

/// Text that must not be printed: no `Display`, and `Debug` shows only whether it is empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself. Whoever calls this takes over the care for it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_exposed(self) -> String {
        self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "(empty)" } else { "(hidden)" })
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// What a user of an access needs to prove who it is: of the protocol that was asked for, with the fields that the authentication
/// type needs (COSI-GRANT-8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// For S3.
    S3(S3Credentials),
    /// For Azure.
    Azure(AzureCredentials),
    /// For Google Cloud Storage.
    Gcs(GcsCredentials),
}

impl Credentials {
    /// Which protocol they are for.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        match self {
            Self::S3(_) => Protocol::S3,
            Self::Azure(_) => Protocol::Azure,
            Self::Gcs(_) => Protocol::Gcs,
        }
    }
}

/// An S3 key pair: both needed for a key, both left empty for a `ServiceAccount`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct S3Credentials {
    /// Access key id.
    pub access_key_id: Secret,
    /// Secret access key.
    pub access_secret_key: Secret,
}

/// An Azure token: needed for a key, left empty for a `ServiceAccount`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AzureCredentials {
    /// Shared access signature, resource address included.
    pub access_token: Secret,
    /// When the token ends, date and time by ISO 8601; empty if it doesn't.
    pub expiry_timestamp: Secret,
}

/// Google Cloud Storage credentials: id and secret needed for a key, the other two for a `ServiceAccount`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GcsCredentials {
    /// HMAC access id.
    pub access_id: Secret,
    /// HMAC secret.
    pub access_secret: Secret,
    /// Name of the private key.
    pub private_key_name: Secret,
    /// Name of the Google service account.
    pub service_account: Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_print_themselves() {
        let canary = || Secret::new("canary");
        let all = [
            Credentials::S3(S3Credentials { access_key_id: canary(), access_secret_key: canary() }),
            Credentials::Azure(AzureCredentials { access_token: canary(), expiry_timestamp: canary() }),
            Credentials::Gcs(GcsCredentials {
                access_id: canary(),
                access_secret: canary(),
                private_key_name: canary(),
                service_account: canary(),
            }),
        ];
        assert!(!format!("{all:?} {all:#?}").contains("canary"));
    }
}
