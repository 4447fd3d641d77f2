//! A driver whose backend is a folder: buckets and accounts are folders in it, each with the mark of who made it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cosi_driver_sdk::prelude::*;

type Answer<T> = Result<T, DriverError>;

pub(crate) struct Folders {
    pub(crate) info: DriverInfo,
    pub(crate) data: PathBuf,
}

/// A failing disk says nothing about what is there: INTERNAL, and tried again.
fn failed(error: impl Into<io::Error>) -> DriverError {
    DriverError::internal(format!("the disk failed: {}", error.into()))
}

/// Whose a folder is; `None` if it is not there, or nobody's.
fn mark_of(place: &Path) -> Answer<Option<OwnerMark>> {
    match fs::read_to_string(place.join("mark")) {
        Ok(text) => Ok(text.parse().ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

impl Folders {
    fn place(&self, kind: &str, name: &str) -> PathBuf {
        self.data.join(kind).join(name)
    }

    /// Makes a folder with its mark and content in one step, by a rename; or finds it, and whose it is.
    fn make(&self, kind: &str, name: &str, mark: &OwnerMark, content: &str) -> Answer<String> {
        let (place, draft) = (self.place(kind, name), self.place("drafts", kind).join(name));
        if !place.try_exists().map_err(failed)? {
            fs::create_dir_all(draft.join("objects")).map_err(failed)?;
            fs::write(draft.join("mark"), mark.to_string()).map_err(failed)?;
            fs::write(draft.join("content"), content).map_err(failed)?;
            fs::create_dir_all(self.data.join(kind)).map_err(failed)?;
            fs::rename(&draft, &place).map_err(failed)?;
        }
        mark.compare(mark_of(&place)?.as_ref()).or_already_exists(name)?;
        fs::read_to_string(place.join("content")).map_err(failed)
    }

    /// Deletes a folder that holds no objects; gone already is fine, and so is a name that none can have.
    fn delete(&self, kind: &str, name: &str) -> Answer<()> {
        let Ok(name) = BucketName::new(name) else { return Ok(()) };
        let (place, waste) = (self.place(kind, name.as_str()), self.place("waste", kind).join(name.as_str()));
        match fs::read_dir(place.join("objects")).map(Iterator::count) {
            Ok(1..) => {
                return Err(DriverError::failed_precondition(format!("bucket {name} is not empty")));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        fs::create_dir_all(&waste).and_then(|()| fs::remove_dir_all(&waste)).map_err(failed)?;
        match fs::rename(place, &waste) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            renamed => renamed.and_then(|()| fs::remove_dir_all(waste)).map_err(failed),
        }
    }

    /// Deletes a folder if a request with this mark made it, and leaves any other alone.
    fn undo(&self, kind: &str, name: &str, mark: &OwnerMark) -> Answer<()> {
        let found = mark_of(&self.place(kind, name))?;
        if mark.compare(found.as_ref()).is_same() { self.delete(kind, name) } else { Ok(()) }
    }
}

fn s3(id: &BucketId) -> S3BucketInfo {
    let (endpoint, region) = ("https://s3.example.com".to_owned(), "nowhere".to_owned());
    S3BucketInfo { bucket_id: id.to_string(), endpoint, region, addressing_style: AddressingStyle::Path }
}

#[async_trait]
impl Driver for Folders {
    fn info(&self) -> DriverInfo {
        self.info.clone()
    }

    fn bucket_id_for(&self, name: &BucketName, _: &Parameters) -> Option<BucketId> {
        BucketId::new(name.as_str()).ok()
    }

    fn account_id_for(&self, name: &AccountName, _: &Parameters) -> Option<AccountId> {
        AccountId::new(name.as_str()).ok()
    }

    async fn create_bucket(&self, _: &CallContext, asked: CreateBucketRequest) -> Answer<Bucket> {
        asked.parameters.only(&[])?;
        self.make("buckets", asked.name.as_str(), &OwnerMark::new(&self.info, &asked.name, &asked), "")?;
        let id = BucketId::new(asked.name.as_str())?;
        Ok(Bucket { info: s3(&id).into(), id })
    }

    async fn get_existing_bucket(&self, _: &CallContext, asked: GetExistingBucketRequest) -> Answer<Bucket> {
        let id = asked.bucket_id;
        let place = BucketName::new(id.as_str()).map(|name| self.place("buckets", name.as_str()));
        if !place.map_or(Ok(false), |place| place.try_exists()).map_err(failed)? {
            return Err(DriverError::not_found(format!("there is no bucket {id}")));
        }
        Ok(Bucket { info: s3(&id).into(), id })
    }

    async fn delete_bucket(&self, _: &CallContext, asked: DeleteBucketRequest) -> Answer<()> {
        self.delete("buckets", asked.bucket_id.as_str())
    }

    async fn delete_bucket_by_name(&self, _: &CallContext, asked: DeleteBucketByNameRequest) -> Answer<()> {
        self.undo("buckets", asked.name.as_str(), &OwnerMark::new(&self.info, &asked.name, &asked))
    }

    async fn grant_access(&self, _: &CallContext, asked: GrantAccessRequest) -> Answer<GrantedAccess> {
        asked.parameters.only(&[])?;
        if asked.authentication != Authentication::Key {
            return Err(DriverError::invalid_argument("only authentication by Key is supported"));
        }
        let (name, mark) = (&asked.account_name, OwnerMark::new(&self.info, &asked.account_name, &asked));
        let keys = format!("{:032x} {:032x}", rand::random::<u128>(), rand::random::<u128>());
        let keys = self.make("accounts", name.as_str(), &mark, &keys)?;
        let (id, key) = keys.split_once(' ').unwrap_or_default();
        let keys = S3Credentials { access_key_id: Secret::new(id), access_secret_key: Secret::new(key) };
        Ok(GrantedAccess {
            account_id: AccountId::new(name.as_str())?,
            buckets: asked.buckets.iter().map(|b| (b.bucket_id.clone(), s3(&b.bucket_id).into())).collect(),
            credentials: Credentials::S3(keys),
        })
    }

    async fn revoke_access(&self, _: &CallContext, asked: RevokeAccessRequest) -> Answer<()> {
        self.delete("accounts", asked.account_id.as_str())
    }

    async fn revoke_access_by_name(&self, _: &CallContext, asked: RevokeAccessByNameRequest) -> Answer<()> {
        let mark = OwnerMark::new(&self.info, &asked.account_name, &asked);
        self.undo("accounts", asked.account_name.as_str(), &mark)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::args().nth(1).ok_or("say in which folder to keep buckets and accounts")?.into();
    let info = DriverInfo::new("folders.example.com", [Protocol::S3])?;
    Ok(Server::new(Folders { info, data }).serve(&Endpoint::from_env()?).await?)
}
