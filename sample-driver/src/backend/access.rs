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
    accounts::{Accounts, Rights},
    keys,
};
use crate::store::BucketId;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    /// Reads objects of one bucket, or the list of them.
    Read,
    /// Changes objects of one bucket.
    Write,
    /// Looks at more than one bucket.
    Operate,
}

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

/// Decides by the table of accounts.
#[derive(Debug)]
pub(crate) struct Gate {
    accounts: Accounts,
}

impl Gate {
    pub(crate) fn new(accounts: Accounts) -> Self {
        Self { accounts }
    }

    fn decide(&self, who: Option<&Credentials>, operation: &str, path: &S3Path) -> S3Result<()> {
        let need = need_of(operation).ok_or_else(denied)?;
        let rights = self.rights(who)?;
        match (need, path) {
            (Need::Operate, S3Path::Root) if *rights == Rights::Operator => Ok(()),
            (Need::Read | Need::Write, S3Path::Bucket { bucket }) => allow(&rights, bucket, need),
            (Need::Read | Need::Write, S3Path::Object { bucket, key }) => {
                allow(&rights, bucket, need)?;
                keys::check(key)
            }
            _ => Err(denied()),
        }
    }

    /// The other end of a copy: whoever writes must also be allowed to read what is copied.
    fn decide_source(&self, who: Option<&Credentials>, source: &CopySource) -> S3Result<()> {
        let CopySource::Bucket { bucket, key, .. } = source else { return Err(denied()) };
        allow(&*self.rights(who)?, bucket, Need::Read)?;
        keys::check(key)
    }

    fn rights(&self, who: Option<&Credentials>) -> S3Result<std::sync::Arc<Rights>> {
        who.and_then(|who| self.accounts.rights(&who.access_key)).ok_or_else(denied)
    }
}

fn allow(rights: &Rights, bucket: &str, need: Need) -> S3Result<()> {
    let bucket: BucketId = bucket.parse().map_err(|_| s3_error!(InvalidBucketName))?;
    let scope = rights.on(&bucket);
    let allowed = match need {
        Need::Read => scope.read,
        Need::Write => scope.write,
        Need::Operate => false,
    };
    if allowed { Ok(()) } else { Err(denied()) }
}

fn denied() -> s3s::S3Error {
    s3_error!(AccessDenied, "Access Denied")
}

#[async_trait::async_trait]
impl S3Access for Gate {
    async fn check(&self, cx: &mut S3AccessContext<'_>) -> S3Result<()> {
        self.decide(cx.credentials(), cx.s3_op().name(), cx.s3_path())
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

    use super::{super::accounts::Scope, *};

    fn gate() -> Gate {
        let accounts = Accounts::default();
        accounts.put("OPERATOR", "secret", Rights::Operator);
        for (key, scope) in [
            ("READER", Scope { read: true, write: false }),
            ("WRITER", Scope { read: false, write: true }),
            ("BOTH", Scope { read: true, write: true }),
        ] {
            accounts.put(key, "secret", Rights::Buckets([("own-bucket".parse().unwrap(), scope)].into()));
        }
        Gate::new(accounts)
    }

    fn who(access_key: &str) -> Credentials {
        Credentials { access_key: access_key.into(), secret_key: "secret".into() }
    }

    fn may(access_key: &str, operation: &str, path: &S3Path) -> bool {
        gate().decide(Some(&who(access_key)), operation, path).is_ok()
    }

    #[rstest]
    #[case("CreateBucket")]
    #[case("DeleteBucket")]
    #[case("PutBucketPolicy")]
    #[case("PutBucketAcl")]
    #[case("PutObjectAcl")]
    #[case("PostObject")]
    #[case("AnOperationOfTheFuture")]
    fn an_operation_that_is_not_listed_is_refused_even_to_the_operator(#[case] operation: &str) {
        assert!(!may("OPERATOR", operation, &S3Path::bucket("own-bucket")));
        assert!(!may("OPERATOR", operation, &S3Path::object("own-bucket", "key")));
    }

    #[rstest]
    #[case("READER", "GetObject", true)]
    #[case("READER", "PutObject", false)]
    #[case("READER", "DeleteObject", false)]
    #[case("WRITER", "GetObject", false)]
    #[case("WRITER", "PutObject", true)]
    #[case("BOTH", "GetObject", true)]
    #[case("BOTH", "UploadPart", true)]
    #[case("NOBODY", "GetObject", false)]
    fn an_account_does_with_its_bucket_what_its_scope_says(
        #[case] key: &str,
        #[case] op: &str,
        #[case] allowed: bool,
    ) {
        assert_eq!(may(key, op, &S3Path::object("own-bucket", "key")), allowed);
        assert!(!may(key, op, &S3Path::object("other-bucket", "key")));
    }

    #[test]
    fn only_the_operator_lists_buckets() {
        assert!(may("OPERATOR", "ListBuckets", &S3Path::root()));
        assert!(!may("BOTH", "ListBuckets", &S3Path::root()));
    }

    #[test]
    fn an_unsigned_request_is_refused() {
        assert!(gate().decide(None, "GetObject", &S3Path::object("own-bucket", "key")).is_err());
    }

    #[test]
    fn a_key_that_bends_the_path_is_refused_on_every_object_operation() {
        assert!(!may("OPERATOR", "GetObject", &S3Path::object("own-bucket", "../other-bucket/key")));
        assert!(!may("OPERATOR", "PutObject", &S3Path::object("own-bucket", "/key")));
    }

    #[test]
    fn a_copy_needs_the_right_to_read_its_source() {
        let source = |bucket: &str, key: &str| CopySource::Bucket {
            bucket: bucket.into(),
            key: key.into(),
            version_id: None,
        };
        let may = |who_: &str, source: &CopySource| gate().decide_source(Some(&who(who_)), source).is_ok();
        assert!(may("BOTH", &source("own-bucket", "key")));
        assert!(!may("WRITER", &source("own-bucket", "key")));
        assert!(!may("BOTH", &source("other-bucket", "key")));
        assert!(!may("OPERATOR", &source("own-bucket", "../other-bucket/key")));
    }
}
