//! How an S3 request gets into its bucket, and into an upload.

use std::{mem, sync::Arc};

use s3s::{S3Error, S3ErrorCode, S3Request, S3Result, s3_error};

use super::accounts::{Accounts, Need, denied};
use crate::{
    chain::chain,
    store::{BucketId, Entered, OBJECTS, Store},
};

/// Who passed the gate, and as what.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) access_key: String,
    pub(crate) need: Need,
}

/// Who sends a request. Nobody, if the gate wasn't asked.
pub(crate) fn caller<T>(req: &S3Request<T>) -> Option<Caller> {
    req.extensions.get().cloned()
}

/// The bucket that a request names; s3s-fs gets the one folder that each bucket has instead.
pub(crate) fn named(bucket: &mut String) -> String {
    mem::replace(bucket, OBJECTS.to_owned())
}

/// All buckets of a store, as S3 sees them.
#[derive(Debug)]
pub(crate) struct Buckets {
    pub(crate) store: Arc<Store>,
    accounts: Accounts,
}

impl Buckets {
    pub(crate) fn new(store: Arc<Store>, accounts: Accounts) -> Self {
        Self { store, accounts }
    }

    /// Runs `work` inside a bucket, in a task of its own: a client that goes away must not free the bucket for a delete
    /// while a file operation is still under way.
    ///
    /// The caller's rights are looked at once more inside: since the gate, the account may have been revoked, or the
    /// bucket may have been deleted and be another one.
    pub(crate) async fn inside<T, W>(
        &self,
        caller: Option<Caller>,
        bucket: &str,
        work: impl FnOnce(Entered) -> W,
    ) -> S3Result<T>
    where
        T: Send + 'static,
        W: Future<Output = S3Result<T>> + Send + 'static,
    {
        let done = async {
            let Caller { access_key, need } = caller.ok_or_else(denied)?;
            let id: BucketId = bucket.parse().map_err(|_| s3_error!(InvalidBucketName))?;
            let entered =
                self.store.enter(&id).await.map_err(internal)?.ok_or_else(|| s3_error!(NoSuchBucket))?;
            self.accounts.check(&access_key, need, &id)?;
            tokio::spawn(work(entered)).await.map_err(internal)?
        };
        done.await.inspect_err(log_internal)
    }

    /// Runs `work` inside a bucket on an upload that the caller may go on with: its own, and for this key. The operator may go on
    /// with everybody's, or what a revoked account left unfinished would keep its bucket for ever; s3s-fs then takes the
    /// request for its owner's. Any other upload is unknown.
    pub(crate) async fn inside_upload<I, T, W>(
        &self,
        mut req: S3Request<I>,
        bucket: &str,
        (key, upload): (String, String),
        work: impl FnOnce(Entered, S3Request<I>) -> W + Send + 'static,
    ) -> S3Result<T>
    where
        I: Send + 'static,
        T: Send + 'static,
        W: Future<Output = S3Result<T>> + Send,
    {
        let caller = caller(&req);
        let owner = self.owner(caller.as_ref());
        self.inside(caller, bucket, |at| async move {
            let begun_by = at.upload_owner(&key, &upload).map_err(internal)?;
            let begun_by = begun_by
                .filter(|begun_by| owner.is_none_or(|owner| owner == *begun_by))
                .ok_or_else(|| s3_error!(NoSuchUpload))?;
            if let Some(credentials) = &mut req.credentials {
                credentials.access_key = begun_by;
            }
            work(at, req).await
        })
        .await
    }

    /// Whose uploads a caller may see and go on with; `None`: everybody's.
    pub(crate) fn owner(&self, caller: Option<&Caller>) -> Option<String> {
        let access_key = caller.map(|caller| caller.access_key.clone()).unwrap_or_default();
        (!self.accounts.is_operator(&access_key)).then_some(access_key)
    }
}

pub(crate) fn internal(cause: impl std::error::Error + Send + Sync + 'static) -> S3Error {
    S3Error::internal_error(cause)
}

/// Only what is our fault; that a client asks for a missing key is no news.
pub(crate) fn log_internal(error: &S3Error) {
    if *error.code() == S3ErrorCode::InternalError {
        tracing::error!(
            cause = error.source().map(|cause| chain(cause)),
            "an S3 request failed inside the server"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::accounts::tests::{account, world},
        *,
    };

    async fn visit(buckets: &Buckets, caller: Option<Caller>) -> Result<(), S3ErrorCode> {
        buckets.inside(caller, "own-bucket", |_| async { Ok(()) }).await.map_err(|e| e.code().clone())
    }

    /// Between the gate and the bucket a request may wait, for a delete that then finds objects, for instance.
    #[tokio::test]
    async fn who_is_revoked_after_the_gate_does_not_get_in() {
        let (_data, store, accounts) = world().await;
        let key = account(&store, "ba-1", true, false).await;
        let buckets = Buckets::new(Arc::clone(&store), accounts);
        let caller = |need| Some(Caller { access_key: key.access_key.clone(), need });
        assert_eq!(visit(&buckets, caller(Need::Read)).await, Ok(()));
        assert_eq!(visit(&buckets, caller(Need::Write)).await, Err(S3ErrorCode::AccessDenied));
        store.revoke("ba-1").await.unwrap();
        assert_eq!(visit(&buckets, caller(Need::Read)).await, Err(S3ErrorCode::AccessDenied));
    }

    #[tokio::test]
    async fn who_did_not_pass_the_gate_does_not_get_in() {
        let (_data, store, accounts) = world().await;
        assert_eq!(visit(&Buckets::new(store, accounts), None).await, Err(S3ErrorCode::AccessDenied));
    }
}
