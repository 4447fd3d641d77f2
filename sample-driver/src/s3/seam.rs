//! What the driver needs of the service. The driver's own tests put a service in memory behind it.

use std::collections::BTreeMap;

use cosi_driver_sdk::{AccountKey, DriverError, Secret, async_trait};

/// What the service keeps beside a bucket or user: pairs of texts.
pub type Tags = BTreeMap<String, String>;

/// How an attempt to make something ended, if the service did not refuse it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// It is there. At some services (S3 in us-east-1) this is said of a bucket that was there before, too.
    New,
    /// Something of that name was there before.
    Taken,
}

/// Things of one kind that have a name and tags: buckets, or users.
///
/// # Errors
/// Of each method: what the service answered, with the code that stands for it. A look-up that fails is an error and never
/// "absent" (C38).
#[async_trait]
pub trait Tagged: Send + Sync + 'static {
    /// The thing's tags; `None` only if the service said that there is no such thing.
    async fn tags(&self, name: &str) -> Result<Option<Tags>, DriverError>;

    /// Makes it, with these tags if the service takes them along. One attempt: a second one could not tell what the first
    /// had made from what is somebody else's.
    async fn make(&self, name: &str, tags: &Tags) -> Result<Made, DriverError>;

    /// Gives it these tags; other ones may go.
    async fn tag(&self, name: &str, tags: &Tags) -> Result<(), DriverError>;

    /// Deletes it; gone already is `Ok` (C16).
    async fn delete(&self, name: &str) -> Result<(), DriverError>;
}

/// Users have rights and keys, too. Deleting a user deletes both.
///
/// # Errors
/// As with [`Tagged`].
#[async_trait]
pub trait Users: Tagged {
    /// Gives the user exactly the rights of this policy document.
    async fn allow(&self, user: &str, policy: &str) -> Result<(), DriverError>;

    /// Ids of all keys, the oldest first.
    async fn keys(&self, user: &str) -> Result<Vec<Secret>, DriverError>;

    /// Makes one more key.
    async fn create_key(&self, user: &str) -> Result<AccountKey, DriverError>;

    /// Deletes a key; gone already is `Ok`.
    async fn delete_key(&self, user: &str, key: &Secret) -> Result<(), DriverError>;
}
