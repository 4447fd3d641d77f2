//! The smallest whole driver: every call of the protocol, with a backend that is two maps in memory.
//!
//! `COSI_ENDPOINT=unix:///tmp/minimal/cosi.sock cargo run --example minimal`. What it made is gone when it ends (a real driver
//! keeps nothing in memory, COSI-GEN-6); all else is as it should be: ids that follow from names, ownership by
//! fingerprint, undo by name, one account with one key per access.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cosi_driver_sdk::prelude::*;

type Answer<T> = Result<T, DriverError>;

/// What is there: for which request it was made, by name, which is the id.
#[derive(Default)]
pub(crate) struct Backend {
    pub(crate) buckets: BTreeMap<String, Fingerprint>,
    pub(crate) accounts: BTreeMap<String, (Fingerprint, S3Credentials)>,
}

/// The driver.
#[derive(Clone, Default)]
pub(crate) struct Minimal(Arc<Mutex<Backend>>);

impl Minimal {
    /// The backend, for as long as the guard lives.
    pub(crate) fn backend(&self) -> MutexGuard<'_, Backend> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken(name: impl AsRef<str>) -> DriverError {
    DriverError::already_exists(format!("{} is there already, for another request", name.as_ref()))
}

fn s3(id: &BucketId) -> S3BucketInfo {
    S3BucketInfo {
        bucket_id: id.to_string(),
        endpoint: "https://s3.example.com".to_owned(),
        region: "nowhere".to_owned(),
        addressing_style: AddressingStyle::Path,
    }
}

#[async_trait]
impl Driver for Minimal {
    fn info(&self) -> DriverInfo {
        DriverInfo::new("minimal.example.com", [Protocol::S3]).unwrap_or_else(|_| unreachable!("a good name"))
    }

    fn bucket_id_for(&self, name: &BucketName, _: &Parameters) -> Option<BucketId> {
        BucketId::new(name.as_str()).ok()
    }

    fn account_id_for(&self, name: &AccountName, _: &Parameters) -> Option<AccountId> {
        AccountId::new(name.as_str()).ok()
    }

    async fn create_bucket(&self, _: &CallContext, asked: CreateBucketRequest) -> Answer<Bucket> {
        asked.parameters.only(&[])?;
        let (id, wanted) = (BucketId::new(asked.name.as_str())?, Fingerprint::from(&asked));
        let mut backend = self.backend();
        let found = backend.buckets.entry(asked.name.to_string()).or_insert_with(|| wanted.clone());
        if !found.matches(&wanted) {
            return Err(taken(&asked.name));
        }
        Ok(Bucket { info: s3(&id).into(), id })
    }

    async fn get_existing_bucket(&self, _: &CallContext, asked: GetExistingBucketRequest) -> Answer<Bucket> {
        asked.parameters.only(&[])?;
        let id = asked.bucket_id;
        if !self.backend().buckets.contains_key(id.as_str()) {
            return Err(DriverError::not_found(format!("there is no bucket {id}")));
        }
        Ok(Bucket { info: s3(&id).into(), id })
    }

    async fn delete_bucket(&self, _: &CallContext, asked: DeleteBucketRequest) -> Answer<()> {
        self.backend().buckets.remove(asked.bucket_id.as_str());
        Ok(())
    }

    async fn delete_bucket_by_name(&self, _: &CallContext, asked: DeleteBucketByNameRequest) -> Answer<()> {
        let wanted = Fingerprint::from(&asked);
        self.backend().buckets.retain(|name, found| name != asked.name.as_str() || !found.matches(&wanted));
        Ok(())
    }

    async fn grant_access(&self, _: &CallContext, asked: GrantAccessRequest) -> Answer<GrantedAccess> {
        asked.parameters.only(&[])?;
        if asked.authentication != Authentication::Key {
            return Err(DriverError::invalid_argument(
                "authentication by ServiceAccount is not supported; Key is",
            ));
        }
        let wanted = Fingerprint::from(&asked);
        let mut backend = self.backend();
        let account = backend.accounts.get(asked.account_name.as_str()).cloned();
        let missing =
            asked.buckets.iter().find(|bucket| !backend.buckets.contains_key(bucket.bucket_id.as_str()));
        let keys = match (account, missing) {
            (Some((found, keys)), _) if found.matches(&wanted) => keys,
            (Some(_), _) => return Err(taken(&asked.account_name)),
            (None, Some(bucket)) => {
                return Err(DriverError::failed_precondition(format!(
                    "there is no bucket {}",
                    bucket.bucket_id
                )));
            }
            (None, None) => {
                let random = || Secret::new(format!("{:032x}", rand::random::<u128>()));
                let keys = S3Credentials { access_key_id: random(), access_secret_key: random() };
                backend.accounts.insert(asked.account_name.to_string(), (wanted, keys.clone()));
                keys
            }
        };
        Ok(GrantedAccess {
            account_id: AccountId::new(asked.account_name)?,
            buckets: asked.buckets.iter().map(|b| (b.bucket_id.clone(), s3(&b.bucket_id).into())).collect(),
            credentials: Credentials::S3(keys),
        })
    }

    async fn revoke_access(&self, _: &CallContext, asked: RevokeAccessRequest) -> Answer<()> {
        self.backend().accounts.remove(asked.account_id.as_str());
        Ok(())
    }

    async fn revoke_access_by_name(&self, _: &CallContext, asked: RevokeAccessByNameRequest) -> Answer<()> {
        let (name, wanted) = (asked.account_name.as_str(), Fingerprint::from(&asked));
        self.backend().accounts.retain(|account, (found, _)| account != name || !found.matches(&wanted));
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    Server::new(Minimal::default()).serve(&Endpoint::from_env()?).await?;
    Ok(())
}
