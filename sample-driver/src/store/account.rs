//! Accounts: who asked for them, what they may do, and their keys.

use std::{collections::BTreeMap, fmt};

use rand::{Rng as _, distr::Alphanumeric};
use s3s::auth::SecretKey;
use serde::{Deserialize, Serialize};

use super::{error::GrantError, id::BucketId};

/// What may be done with the objects of one bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Scope {
    /// Get objects and list them.
    pub read: bool,
    /// Put and delete objects.
    pub write: bool,
}

/// What a grant asks for; two requests are the same if both fields are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AccountRequest {
    /// The idempotency key.
    pub name: String,
    /// What the account may do, and where.
    pub buckets: BTreeMap<BucketId, Scope>,
}

/// An S3 key pair. Its `Debug` shows neither half.
#[derive(Clone)]
pub struct KeyPair {
    /// By which the server finds who signed.
    pub access_key: String,
    /// With which a request is signed.
    pub secret: SecretKey,
}

impl KeyPair {
    /// A new one, from the operating system's randomness: 103 and 238 bits.
    #[must_use]
    pub fn random() -> Self {
        let random =
            |length| rand::rng().sample_iter(Alphanumeric).map(char::from).take(length).collect::<String>();
        let upper = rand::rng().sample_iter(Alphanumeric).map(char::from).filter(|c| !c.is_ascii_lowercase());
        Self { access_key: upper.take(20).collect(), secret: random(40).into() }
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyPair(hidden)")
    }
}

/// An account: who it was made for, and its one key pair.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) request: AccountRequest,
    pub(crate) key: KeyPair,
}

/// The account that is to be there after a grant: the one that is there, or a new one if all of its buckets are there.
///
/// One that is there is answered even if a bucket has gone meanwhile: the same request, the same answer (COSI-GRANT-1).
pub(crate) fn granted(
    known: Option<Account>,
    request: &AccountRequest,
    absent: Option<&BucketId>,
) -> Result<Account, GrantError> {
    match (known, absent) {
        (Some(account), _) if account.request == *request => Ok(account),
        (Some(_), _) => Err(GrantError::OtherRequest(request.name.clone())),
        (None, Some(bucket)) => Err(GrantError::NoBucket(bucket.clone())),
        (None, None) => Ok(Account { request: request.clone(), key: KeyPair::random() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_pair_is_long_enough_and_never_the_same() {
        let (one, two) = (KeyPair::random(), KeyPair::random());
        assert_eq!((one.access_key.len(), one.secret.expose().len()), (20, 40));
        assert!(one.access_key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()));
        assert_ne!(one.access_key, two.access_key);
        assert_ne!(one.secret.expose(), two.secret.expose());
    }

    /// I7.
    #[test]
    fn a_key_pair_does_not_print_itself() {
        let key = KeyPair::random();
        let request = AccountRequest { name: "ba-1".into(), buckets: BTreeMap::new() };
        let printed = format!("{key:?} {:?}", Account { request, key: key.clone() });
        assert!(!printed.contains(&key.access_key) && !printed.contains(key.secret.expose()), "{printed}");
    }
}
