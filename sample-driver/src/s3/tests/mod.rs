//! The driver over a service in memory.

mod buckets;
mod fake;
mod users;

use std::time::Duration;

use cosi_driver_sdk::{
    AccessMode, AccessedBucket, AddressingStyle, Authentication, CreateBucketRequest,
    DeleteBucketByNameRequest, DriverInfo, GrantAccessRequest, NameLedger, Parameters, Protocol,
    RevokeAccessByNameRequest,
};
use tempfile::TempDir;

use self::fake::Fake;
use super::S3Driver;
use crate::driver::Profile;

/// A driver, and both halves of its service.
struct World {
    buckets: Fake,
    users: Fake,
    ledger: NameLedger,
    driver: S3Driver<Fake, Fake>,
    _folder: TempDir,
}

impl World {
    fn new() -> Self {
        // No power is cut here: in memory a ledger is faster.
        let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let info = DriverInfo::new("s3.example.com", [Protocol::S3]).unwrap();
        let ledger = NameLedger::open(folder.path().join("ledger"), &info).unwrap();
        let (buckets, users) = (Fake::default(), Fake::default());
        let profile = Profile {
            info,
            endpoint: "https://s3.example.com".into(),
            region: "lab-1".into(),
            addressing_style: AddressingStyle::Path,
            create_delay: Duration::ZERO,
            grant_delay: Duration::ZERO,
        };
        let driver = S3Driver::new(buckets.clone(), users.clone(), ledger.clone(), profile);
        Self { buckets, users, ledger, driver, _folder: folder }
    }
}

fn create(name: &str) -> CreateBucketRequest {
    CreateBucketRequest {
        name: name.parse().unwrap(),
        protocols: [Protocol::S3].into(),
        parameters: Parameters::default(),
    }
}

/// The undo of [`create`].
fn uncreate(name: &str) -> DeleteBucketByNameRequest {
    let CreateBucketRequest { name, protocols, parameters } = create(name);
    DeleteBucketByNameRequest { name, protocols, parameters }
}

fn grant(name: &str, bucket: &str) -> GrantAccessRequest {
    let bucket = AccessedBucket { bucket_id: bucket.parse().unwrap(), mode: AccessMode::ReadOnly };
    GrantAccessRequest {
        account_name: name.parse().unwrap(),
        protocol: Protocol::S3,
        authentication: Authentication::Key,
        parameters: Parameters::default(),
        buckets: vec![bucket],
    }
}

/// The undo of [`grant`].
fn ungrant(name: &str, bucket: &str) -> RevokeAccessByNameRequest {
    RevokeAccessByNameRequest {
        account_name: name.parse().unwrap(),
        protocol: Protocol::S3,
        authentication: Authentication::Key,
        parameters: Parameters::default(),
        buckets: vec![bucket.parse().unwrap()],
    }
}
