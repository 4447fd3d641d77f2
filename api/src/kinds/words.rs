//! Fields that hold one word of a fixed list.

/// A word that isn't in the list of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is none of {allowed}")]
pub struct UnknownWord {
    /// The word that was found, cut after 64 characters.
    pub word: String,
    /// The words that are known.
    pub allowed: String,
}

/// Defines an enum whose variants are words in the API.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// All of them, in the order of the API.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or_else(|| UnknownWord {
                    word: word.chars().take(64).collect(),
                    allowed: [$($word),+].join(", "),
                })
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }
    };
}

words! {
    /// What happens to the bucket at the backend when nobody claims it any more.
    DeletionPolicy {
        /// It stays, with all that is in it.
        Retain = "Retain",
        /// It is deleted.
        Delete = "Delete",
    }
}

words! {
    /// A language that object stores speak.
    ObjectProtocol {
        /// Amazon S3 and what is compatible with it.
        S3 = "S3",
        /// Azure Blob Storage.
        Azure = "Azure",
        /// Google Cloud Storage.
        Gcs = "GCS",
    }
}

words! {
    /// What an access may do in a bucket.
    BucketAccessMode {
        /// Read and write objects.
        ReadWrite = "ReadWrite",
        /// Only read.
        ReadOnly = "ReadOnly",
        /// Only write.
        WriteOnly = "WriteOnly",
    }
}

words! {
    /// How applications prove to the backend who they are.
    BucketAccessAuthenticationType {
        /// By a key or token that the driver hands out in a Secret.
        Key = "Key",
        /// By the Kubernetes ServiceAccount of their Pods.
        ServiceAccount = "ServiceAccount",
    }
}

words! {
    /// How many buckets one access may cover.
    MultiBucketAccess {
        /// Exactly one.
        SingleBucket = "SingleBucket",
        /// One or more.
        MultipleBuckets = "MultipleBuckets",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_reads_back_as_the_variant_that_wrote_it() {
        for protocol in ObjectProtocol::ALL {
            assert_eq!(protocol.as_str().parse(), Ok(*protocol));
            assert_eq!(serde_json::to_value(protocol).unwrap(), protocol.as_str());
        }
        assert_eq!(ObjectProtocol::Gcs.to_string(), "GCS");
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = "s3".parse::<ObjectProtocol>().unwrap_err();
        assert_eq!(error.to_string(), r#""s3" is none of S3, Azure, GCS"#);
        assert!(serde_json::from_str::<DeletionPolicy>(r#""Recycle""#).is_err());
    }

    #[test]
    fn a_huge_unknown_word_is_cut_in_the_error() {
        let error = "x".repeat(100_000).parse::<DeletionPolicy>().unwrap_err();
        assert!(error.to_string().len() < 200);
    }
}
