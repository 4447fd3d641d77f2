//! A driver whose backend chooses the ids: a ledger remembers which name got which, also when the driver dies in between.
//!
//! `COSI_ENDPOINT=unix:///tmp/opaque/cosi.sock cargo run --example opaque_ids -- /tmp/opaque-data`. The backend is a folder: a
//! bucket is a folder in it with a random name and a file `comment`; likewise an account, with its key pair in the file `keys`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cosi_driver_sdk::prelude::*;
use cosi_driver_sdk::{Chosen, InvalidValue, NameLedger, Token};

type Answer<T> = Result<T, DriverError>;

/// The driver.
pub(crate) struct OpaqueIds {
    info: DriverInfo,
    ledger: NameLedger,
    buckets: Shop,
    accounts: Shop,
}

/// One folder of the backend: things with ids of its own, and a comment on each.
struct Shop(PathBuf);

/// A disk's failure says nothing about whether something is there: INTERNAL, and tried again (COSI-GEN-7).
fn failed(error: impl Into<io::Error>) -> DriverError {
    DriverError::internal(format!("the backend failed: {}", error.into()))
}

#[async_trait]
impl<I: std::str::FromStr<Err = InvalidValue> + AsRef<str> + Send + Sync + 'static> Chosen<I> for Shop {
    async fn find(&self, token: &Token) -> Result<Vec<I>, DriverError> {
        let mut found = Vec::new();
        for thing in fs::read_dir(&self.0).map_err(failed)? {
            let thing = thing.map_err(failed)?;
            match fs::read_to_string(thing.path().join("comment")) {
                Ok(text) if text == token.as_str() => {
                    found.push(thing.file_name().to_string_lossy().parse()?);
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                _ => {} // Another name's; it may be going at this very moment.
            }
        }
        Ok(found)
    }

    async fn make(&self, token: &Token) -> Result<I, DriverError> {
        let id = format!("{:032x}", rand::random::<u128>());
        let making = self.0.with_file_name("drafts").join(&id);
        fs::create_dir(&making).map_err(failed)?;
        fs::write(making.join("comment"), token.as_str()).map_err(failed)?;
        let keys = format!("{:032x} {:032x}", rand::random::<u128>(), rand::random::<u128>());
        fs::write(making.join("keys"), keys).map_err(failed)?;
        fs::rename(making, self.0.join(&id)).map_err(failed)?;
        Ok(id.parse()?)
    }

    async fn delete(&self, id: &I) -> Answer<()> {
        // An id that this backend can't have given out names nothing: least of all a path.
        if id.as_ref().len() != 32 || !id.as_ref().bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(());
        }
        let gone = self.0.with_file_name("drafts").join(id.as_ref());
        match fs::rename(self.0.join(id.as_ref()), &gone) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            renamed => renamed.and_then(|()| fs::remove_dir_all(gone)).map_err(failed),
        }
    }
}

impl OpaqueIds {
    pub(crate) fn open(data: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let info = DriverInfo::new("opaque-ids.example.com", [Protocol::S3])?;
        fs::create_dir_all(data)?;
        let ledger = NameLedger::open(data.join("ledger.redb"), &info)?;
        // Nobody else is here now. What an earlier process left half-made or half-deleted never had an id.
        let _ = fs::remove_dir_all(data.join("drafts"));
        for folder in ["drafts", "buckets", "accounts"] {
            fs::create_dir_all(data.join(folder))?;
        }
        let (buckets, accounts) = (Shop(data.join("buckets")), Shop(data.join("accounts")));
        Ok(Self { info, ledger, buckets, accounts })
    }
}

fn s3(id: &BucketId) -> S3BucketInfo {
    let (endpoint, region) = ("https://s3.example.com".to_owned(), "nowhere".to_owned());
    S3BucketInfo { bucket_id: id.to_string(), endpoint, region, addressing_style: AddressingStyle::Path }
}

#[async_trait]
impl Driver for OpaqueIds {
    fn info(&self) -> DriverInfo {
        self.info.clone()
    }

    async fn create_bucket(&self, _: &CallContext, asked: CreateBucketRequest) -> Answer<Bucket> {
        asked.parameters.only(&[])?;
        let id = self.ledger.buckets().make(&asked.name, &asked, &self.buckets).await?;
        Ok(Bucket { info: s3(&id).into(), id })
    }

    async fn delete_bucket(&self, _: &CallContext, asked: DeleteBucketRequest) -> Answer<()> {
        self.ledger.buckets().delete(&asked.bucket_id, &self.buckets).await
    }

    async fn delete_bucket_by_name(&self, _: &CallContext, asked: DeleteBucketByNameRequest) -> Answer<()> {
        self.ledger.buckets().unmake(&asked.name, &asked, &self.buckets).await
    }

    async fn grant_access(&self, _: &CallContext, asked: GrantAccessRequest) -> Answer<GrantedAccess> {
        asked.parameters.only(&[])?;
        if asked.authentication != Authentication::Key {
            return Err(DriverError::invalid_argument(
                "authentication by ServiceAccount is not supported; Key is",
            ));
        }
        let id = self.ledger.accounts().make(&asked.account_name, &asked, &self.accounts).await?;
        let keys = fs::read_to_string(self.accounts.0.join(id.as_ref()).join("keys")).map_err(failed)?;
        let (key, secret) = keys.split_once(' ').unwrap_or_default();
        let keys = S3Credentials { access_key_id: Secret::new(key), access_secret_key: Secret::new(secret) };
        Ok(GrantedAccess {
            account_id: id,
            buckets: asked.buckets.iter().map(|b| (b.bucket_id.clone(), s3(&b.bucket_id).into())).collect(),
            credentials: Credentials::S3(keys),
        })
    }

    async fn revoke_access(&self, _: &CallContext, asked: RevokeAccessRequest) -> Answer<()> {
        self.ledger.accounts().delete(&asked.account_id, &self.accounts).await
    }

    async fn revoke_access_by_name(&self, _: &CallContext, asked: RevokeAccessByNameRequest) -> Answer<()> {
        self.ledger.accounts().unmake(&asked.account_name, &asked, &self.accounts).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let data = std::env::args().nth(1).ok_or("say in which folder to keep buckets, accounts and ledger")?;
    let driver = OpaqueIds::open(Path::new(&data))?;
    let (ledger, endpoint) = (driver.ledger.clone(), Endpoint::from_env()?);
    tokio::select! {
        ended = Server::new(driver).serve(&endpoint) => Ok(ended?),
        () = ledger.broken() => Err("the disk under the ledger failed".into()),
    }
}
