//! The gate in front of every S3 request. Deny by default: an operation that isn't listed here is refused for everyone.

use s3s::{
    S3Request, S3Result,
    access::{S3Access, S3AccessContext},
    auth::Credentials,
    dto::{CopyObjectInput, CopySource, DeleteObjectsInput, UploadPartCopyInput},
    path::S3Path,
    s3_error,
};

use super::{
    accounts::{Accounts, Need, denied},
    keys,
    visit::Caller,
};

/// The allow-list.
fn need_of(operation: &str) -> Option<Need> {
    match operation {
        "GetObject" | "HeadObject" | "ListObjects" | "ListObjectsV2" | "HeadBucket" | "GetBucketLocation" => {
            Some(Need::Read)
        }
        "PutObject"
        | "CopyObject"
        | "DeleteObject"
        | "DeleteObjects"
        | "CreateMultipartUpload"
        | "UploadPart"
        | "UploadPartCopy"
        | "CompleteMultipartUpload"
        | "AbortMultipartUpload"
        | "ListParts"
        | "ListMultipartUploads" => Some(Need::Write),
        "ListBuckets" => Some(Need::Operate),
        _ => None,
    }
}

/// Decides by what accounts were granted.
#[derive(Debug)]
pub(crate) struct Gate {
    accounts: Accounts,
}

impl Gate {
    pub(crate) fn new(accounts: Accounts) -> Self {
        Self { accounts }
    }

    /// Who it is that may go on, and as what.
    fn decide(&self, who: Option<&Credentials>, operation: &str, path: &S3Path) -> S3Result<Caller> {
        let need = need_of(operation).ok_or_else(denied)?;
        let access_key = &who.ok_or_else(denied)?.access_key;
        match (need, path) {
            (Need::Operate, S3Path::Root) if self.accounts.is_operator(access_key) => {}
            (Need::Read | Need::Write, S3Path::Bucket { bucket }) => self.allow(access_key, need, bucket)?,
            (Need::Read | Need::Write, S3Path::Object { bucket, key }) => {
                self.allow(access_key, need, bucket)?;
                keys::check(key)?;
            }
            _ => return Err(denied()),
        }
        Ok(Caller { access_key: access_key.clone(), need })
    }

    /// The other end of a copy: whoever writes must also be allowed to read what is copied.
    fn decide_source(&self, who: Option<&Credentials>, source: &CopySource) -> S3Result<()> {
        let CopySource::Bucket { bucket, key, .. } = source else { return Err(denied()) };
        self.allow(&who.ok_or_else(denied)?.access_key, Need::Read, bucket)?;
        keys::check(key)
    }

    fn allow(&self, access_key: &str, need: Need, bucket: &str) -> S3Result<()> {
        let bucket = bucket.parse().map_err(|_| s3_error!(InvalidBucketName))?;
        self.accounts.check(access_key, need, &bucket)
    }
}

#[async_trait::async_trait]
impl S3Access for Gate {
    async fn check(&self, cx: &mut S3AccessContext<'_>) -> S3Result<()> {
        let caller = self.decide(cx.credentials(), cx.s3_op().name(), cx.s3_path())?;
        cx.extensions_mut().insert(caller);
        Ok(())
    }

    async fn copy_object(&self, req: &mut S3Request<CopyObjectInput>) -> S3Result<()> {
        self.decide_source(req.credentials.as_ref(), &req.input.copy_source)
    }

    async fn upload_part_copy(&self, req: &mut S3Request<UploadPartCopyInput>) -> S3Result<()> {
        self.decide_source(req.credentials.as_ref(), &req.input.copy_source)
    }

    async fn delete_objects(&self, req: &mut S3Request<DeleteObjectsInput>) -> S3Result<()> {
        req.input.delete.objects.iter().try_for_each(|object| keys::check(&object.key))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tempfile::TempDir;

    use super::{
        super::accounts::tests::{account, world},
        *,
    };

    /// A gate, and the access keys of an operator, a reader, a writer, one who is both, and nobody.
    struct World {
        gate: Gate,
        _data: TempDir,
        keys: [(&'static str, String); 5],
    }

    impl World {
        async fn new() -> Self {
            let (data, store, accounts) = world().await;
            let reader = account(&store, "reader", true, false).await;
            let writer = account(&store, "writer", false, true).await;
            let both = account(&store, "both", true, true).await;
            let keys = [
                ("OPERATOR", "OPERATOR".into()),
                ("READER", reader.access_key),
                ("WRITER", writer.access_key),
                ("BOTH", both.access_key),
                ("NOBODY", "NOBODY".into()),
            ];
            Self { gate: Gate::new(accounts), _data: data, keys }
        }

        fn who(&self, name: &str) -> Credentials {
            let (_, access_key) = self.keys.iter().find(|(known, _)| *known == name).unwrap();
            Credentials { access_key: access_key.clone(), secret_key: "secret".into() }
        }

        fn may(&self, who: &str, operation: &str, path: &S3Path) -> bool {
            self.gate.decide(Some(&self.who(who)), operation, path).is_ok()
        }
    }

    #[rstest]
    #[case("CreateBucket")]
    #[case("DeleteBucket")]
    #[case("PutBucketPolicy")]
    #[case("PutBucketAcl")]
    #[case("PutObjectAcl")]
    #[case("PutObjectTagging")]
    #[case("PostObject")]
    #[case("AnOperationOfTheFuture")]
    #[tokio::test]
    async fn an_operation_that_is_not_listed_is_refused_even_to_the_operator(#[case] operation: &str) {
        let world = World::new().await;
        for path in [S3Path::root(), S3Path::bucket("own-bucket"), S3Path::object("own-bucket", "key")] {
            assert!(!world.may("OPERATOR", operation, &path));
            assert!(!world.may("BOTH", operation, &path));
        }
    }

    #[rstest]
    #[case("READER", "GetObject", true)]
    #[case("READER", "ListObjectsV2", true)]
    #[case("READER", "PutObject", false)]
    #[case("READER", "DeleteObject", false)]
    #[case("READER", "DeleteObjects", false)]
    #[case("READER", "CreateMultipartUpload", false)]
    #[case("READER", "ListMultipartUploads", false)]
    #[case("WRITER", "GetObject", false)]
    #[case("WRITER", "HeadObject", false)]
    #[case("WRITER", "ListObjects", false)]
    #[case("WRITER", "PutObject", true)]
    #[case("BOTH", "GetObject", true)]
    #[case("BOTH", "UploadPart", true)]
    #[case("NOBODY", "GetObject", false)]
    #[tokio::test]
    async fn an_account_does_with_its_bucket_what_its_mode_says(
        #[case] who: &str,
        #[case] op: &str,
        #[case] allowed: bool,
    ) {
        let world = World::new().await;
        assert_eq!(world.may(who, op, &S3Path::object("own-bucket", "key")), allowed);
        assert!(!world.may(who, op, &S3Path::object("other-bucket", "key")));
    }

    #[tokio::test]
    async fn only_the_operator_lists_buckets() {
        let world = World::new().await;
        assert!(world.may("OPERATOR", "ListBuckets", &S3Path::root()));
        assert!(!world.may("BOTH", "ListBuckets", &S3Path::root()));
    }

    #[tokio::test]
    async fn an_unsigned_request_is_refused() {
        let path = S3Path::object("own-bucket", "key");
        assert!(World::new().await.gate.decide(None, "GetObject", &path).is_err());
    }

    #[tokio::test]
    async fn a_key_that_bends_the_path_is_refused_on_every_object_operation() {
        let world = World::new().await;
        assert!(!world.may("OPERATOR", "GetObject", &S3Path::object("own-bucket", "../other-bucket/key")));
        assert!(!world.may("OPERATOR", "PutObject", &S3Path::object("own-bucket", "/key")));
    }

    #[tokio::test]
    async fn a_copy_needs_the_right_to_read_its_source() {
        let world = World::new().await;
        let source = |bucket: &str, key: &str| CopySource::Bucket {
            bucket: bucket.into(),
            key: key.into(),
            version_id: None,
        };
        let may =
            |who: &str, source: &CopySource| world.gate.decide_source(Some(&world.who(who)), source).is_ok();
        assert!(may("BOTH", &source("own-bucket", "key")));
        assert!(!may("WRITER", &source("own-bucket", "key")));
        assert!(!may("BOTH", &source("other-bucket", "key")));
        assert!(!may("OPERATOR", &source("own-bucket", "../other-bucket/key")));
    }
}
