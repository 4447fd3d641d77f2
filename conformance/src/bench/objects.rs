//! Objects in buckets: what an account may do, seen by doing it.

use super::{Account, Bench, Bucket, Stop, Tried};
use crate::s3::{Access, Deed, Seen};

impl Bench {
    /// What is needed to use the account's key on the bucket.
    pub(crate) fn access(&self, account: &Account, bucket: &Bucket) -> Tried<Access> {
        self.shared.s3.access(&account.granted, &bucket.id).map_err(Stop::Skip)
    }

    /// Puts an object there; `keeper` may write and takes it away again. Says whether it was allowed.
    pub(crate) async fn put(&self, access: &Access, keeper: &Access, key: &str, wanted: bool) -> Tried<bool> {
        self.made.object(keeper, key);
        let done = self.done(access, Deed::Put, key, wanted).await;
        if matches!(done, Ok(false) | Err(Stop::Skip(_))) {
            self.made.object_gone(keeper, key);
        }
        done
    }

    /// Whether the key may get the object.
    pub(crate) async fn get(&self, access: &Access, key: &str, wanted: bool) -> Tried<bool> {
        self.done(access, Deed::Get, key, wanted).await
    }

    /// Takes the object away before the check is over.
    pub(crate) async fn remove(&self, keeper: &Access, key: &str) -> Tried {
        if self.done(keeper, Deed::Delete, key, true).await? {
            self.made.object_gone(keeper, key);
            return Ok(());
        }
        Err(Stop::Fail(format!(
            "what leads up to this check failed: object {key} can't be deleted by its maker"
        )))
    }

    /// Rights take their time at many backends: what is not as wanted is tried again for a while.
    async fn done(&self, access: &Access, deed: Deed, key: &str, wanted: bool) -> Tried<bool> {
        match self.shared.s3.settled(access, deed, key, wanted).await {
            Seen::Allowed | Seen::Absent => Ok(true),
            Seen::Refused(_) => Ok(false),
            Seen::Unreachable(why) => Err(Stop::Skip(why)),
            Seen::Odd(why) => Err(Stop::Fail(format!("the S3 server could not be asked: {why}"))),
        }
    }
}
