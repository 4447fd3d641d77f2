//! The S3 operations: each enters its bucket, then lets s3s-fs do the work there. What isn't implemented here isn't offered.

use std::{io, mem};

use futures::{StreamExt, stream};
use s3s::{
    S3, S3Request, S3Response, S3Result,
    dto::{
        AbortMultipartUploadInput, AbortMultipartUploadOutput, Bucket, CompleteMultipartUploadInput,
        CompleteMultipartUploadOutput, CopyObjectInput, CopyObjectOutput, CopySource,
        CreateMultipartUploadInput, CreateMultipartUploadOutput, DeleteObjectInput, DeleteObjectOutput,
        DeleteObjectsInput, DeleteObjectsOutput, DeletedObject, EncodingType, GetBucketLocationInput,
        GetBucketLocationOutput, GetObjectInput, GetObjectOutput, HeadBucketInput, HeadBucketOutput,
        HeadObjectInput, HeadObjectOutput, ListBucketsInput, ListBucketsOutput, ListMultipartUploadsInput,
        ListMultipartUploadsOutput, ListObjectsInput, ListObjectsOutput, ListObjectsV2Input,
        ListObjectsV2Output, ListPartsInput, ListPartsOutput, MultipartUpload, PutObjectInput,
        PutObjectOutput, StreamingBlob, UploadPartCopyInput, UploadPartCopyOutput, UploadPartInput,
        UploadPartOutput,
    },
    s3_error,
};
use tokio::sync::watch;

use super::{
    objects::{self, Place},
    visit::{Buckets, caller, internal, log_internal, named},
};
use crate::store::{Entered, OBJECTS, Upload};

type Answer<T> = S3Result<S3Response<T>>;

/// Keys in lists stand as they are. s3s-fs repeats the encoding that was asked for without doing it, and clients then decode
/// what was never encoded.
const NOT_ENCODED: Option<EncodingType> = None;

fn same_bucket(source: &mut CopySource, bucket: &str) -> S3Result<String> {
    match source {
        CopySource::Bucket { bucket: from, key, .. } if **from == *bucket => {
            *from = OBJECTS.into();
            Ok(key.to_string())
        }
        CopySource::Bucket { .. } => Err(s3_error!(
            NotImplemented,
            "Copies between buckets aren't offered here: get the object and put it"
        )),
        CopySource::AccessPoint { .. } | CopySource::Outpost { .. } => Err(s3_error!(NotImplemented)),
    }
}

fn readable(at: &Entered, key: &str) -> S3Result<()> {
    match objects::place(at.folder(), key) {
        Place::Object => Ok(()),
        Place::Free | Place::Folder | Place::BelowObject => Err(s3_error!(NoSuchKey)),
    }
}

fn writable(at: &Entered, key: &str) -> S3Result<()> {
    match objects::place_for_put(at.folder(), key) {
        Place::Object | Place::Free => Ok(()),
        Place::Folder | Place::BelowObject => Err(s3_error!(
            InvalidArgument,
            "Objects are files here: there can't be a key that continues another one after a slash"
        )),
    }
}

/// A body that ends with an error when a delete cuts it off – not short, as that would store half an object.
fn until_cut(body: StreamingBlob, mut cut: watch::Receiver<u64>) -> StreamingBlob {
    let cut_off = cut.clone();
    let end = stream::once(async move { cut_off.has_changed().unwrap_or(true) })
        .filter_map(async |cut| cut.then(|| Err(io::Error::other("the bucket is being deleted"))));
    let body = body.map(|chunk| chunk.map_err(io::Error::other));
    StreamingBlob::wrap(body.take_until(async move { drop(cut.changed().await) }).chain(end))
}

#[async_trait::async_trait]
impl S3 for Buckets {
    async fn list_buckets(&self, _: S3Request<ListBucketsInput>) -> Answer<ListBucketsOutput> {
        let ids = self.store.list().map_err(internal).inspect_err(log_internal)?;
        let buckets =
            ids.into_iter().map(|id| Bucket { name: Some(id.into()), ..Bucket::default() }).collect();
        Ok(S3Response::new(ListBucketsOutput { buckets: Some(buckets), ..ListBucketsOutput::default() }))
    }

    async fn head_bucket(&self, req: S3Request<HeadBucketInput>) -> Answer<HeadBucketOutput> {
        self.inside(caller(&req), &req.input.bucket, |_| async {
            Ok(S3Response::new(HeadBucketOutput::default()))
        })
        .await
    }

    async fn get_bucket_location(
        &self,
        req: S3Request<GetBucketLocationInput>,
    ) -> Answer<GetBucketLocationOutput> {
        self.inside(caller(&req), &req.input.bucket, |_| async {
            Ok(S3Response::new(GetBucketLocationOutput::default()))
        })
        .await
    }

    async fn list_objects(&self, mut req: S3Request<ListObjectsInput>) -> Answer<ListObjectsOutput> {
        let bucket = named(&mut req.input.bucket);
        let mut answer = self
            .inside(caller(&req), &bucket, |at| async move { at.files().list_objects(req).await })
            .await?;
        answer.output.name = Some(bucket);
        answer.output.encoding_type = NOT_ENCODED;
        Ok(answer)
    }

    async fn list_objects_v2(&self, mut req: S3Request<ListObjectsV2Input>) -> Answer<ListObjectsV2Output> {
        let bucket = named(&mut req.input.bucket);
        let mut answer = self
            .inside(caller(&req), &bucket, |at| async move { at.files().list_objects_v2(req).await })
            .await?;
        answer.output.name = Some(bucket);
        answer.output.encoding_type = NOT_ENCODED;
        Ok(answer)
    }

    async fn get_object(&self, mut req: S3Request<GetObjectInput>) -> Answer<GetObjectOutput> {
        let bucket = named(&mut req.input.bucket);
        self.inside(caller(&req), &bucket, |at| async move {
            readable(&at, &req.input.key)?;
            at.files().get_object(req).await
        })
        .await
    }

    async fn head_object(&self, mut req: S3Request<HeadObjectInput>) -> Answer<HeadObjectOutput> {
        let bucket = named(&mut req.input.bucket);
        self.inside(caller(&req), &bucket, |at| async move {
            readable(&at, &req.input.key)?;
            at.files().head_object(req).await
        })
        .await
    }

    async fn put_object(&self, mut req: S3Request<PutObjectInput>) -> Answer<PutObjectOutput> {
        let bucket = named(&mut req.input.bucket);
        self.inside(caller(&req), &bucket, |at| async move {
            writable(&at, &req.input.key)?;
            req.input.body = req.input.body.map(|body| until_cut(body, at.cut()));
            at.files().put_object(req).await
        })
        .await
    }

    async fn copy_object(&self, mut req: S3Request<CopyObjectInput>) -> Answer<CopyObjectOutput> {
        let bucket = named(&mut req.input.bucket);
        let from = same_bucket(&mut req.input.copy_source, &bucket)?;
        self.inside(caller(&req), &bucket, |at| async move {
            readable(&at, &from)?;
            writable(&at, &req.input.key)?;
            at.files().copy_object(req).await
        })
        .await
    }

    async fn delete_object(&self, mut req: S3Request<DeleteObjectInput>) -> Answer<DeleteObjectOutput> {
        let bucket = named(&mut req.input.bucket);
        self.inside(caller(&req), &bucket, |at| async move {
            match objects::place(at.folder(), &req.input.key) {
                Place::Object => at.files().delete_object(req).await,
                // Deleting what isn't there succeeds in S3.
                _ => Ok(S3Response::new(DeleteObjectOutput::default())),
            }
        })
        .await
    }

    async fn delete_objects(&self, mut req: S3Request<DeleteObjectsInput>) -> Answer<DeleteObjectsOutput> {
        let bucket = named(&mut req.input.bucket);
        self.inside(caller(&req), &bucket, |at| async move {
            let (there, absent): (Vec<_>, Vec<_>) = mem::take(&mut req.input.delete.objects)
                .into_iter()
                .partition(|object| objects::place(at.folder(), &object.key) == Place::Object);
            req.input.delete.objects = there;
            let mut answer = at.files().delete_objects(req).await?;
            let absent = absent
                .into_iter()
                .map(|object| DeletedObject { key: Some(object.key), ..DeletedObject::default() });
            answer.output.deleted.get_or_insert_default().extend(absent);
            Ok(answer)
        })
        .await
    }

    async fn create_multipart_upload(
        &self,
        mut req: S3Request<CreateMultipartUploadInput>,
    ) -> Answer<CreateMultipartUploadOutput> {
        let bucket = named(&mut req.input.bucket);
        let caller = caller(&req);
        let begin = async move |at: Entered| {
            writable(&at, &req.input.key)?;
            at.files().create_multipart_upload(req).await
        };
        let mut answer = self.inside(caller, &bucket, begin).await?;
        answer.output.bucket = Some(bucket);
        Ok(answer)
    }

    async fn upload_part(&self, mut req: S3Request<UploadPartInput>) -> Answer<UploadPartOutput> {
        let bucket = named(&mut req.input.bucket);
        let upload = (req.input.key.clone(), req.input.upload_id.clone());
        self.inside_upload(req, &bucket, upload, |at, mut req| async move {
            req.input.body = req.input.body.map(|body| until_cut(body, at.cut()));
            at.files().upload_part(req).await
        })
        .await
    }

    async fn upload_part_copy(
        &self,
        mut req: S3Request<UploadPartCopyInput>,
    ) -> Answer<UploadPartCopyOutput> {
        let bucket = named(&mut req.input.bucket);
        let from = same_bucket(&mut req.input.copy_source, &bucket)?;
        let upload = (req.input.key.clone(), req.input.upload_id.clone());
        self.inside_upload(req, &bucket, upload, |at, req| async move {
            readable(&at, &from)?;
            at.files().upload_part_copy(req).await
        })
        .await
    }

    async fn list_parts(&self, mut req: S3Request<ListPartsInput>) -> Answer<ListPartsOutput> {
        let bucket = named(&mut req.input.bucket);
        let upload = (req.input.key.clone(), req.input.upload_id.clone());
        let list = |at: Entered, req| async move { at.files().list_parts(req).await };
        let mut answer = self.inside_upload(req, &bucket, upload, list).await?;
        answer.output.bucket = Some(bucket);
        Ok(answer)
    }

    async fn list_multipart_uploads(
        &self,
        req: S3Request<ListMultipartUploadsInput>,
    ) -> Answer<ListMultipartUploadsOutput> {
        let caller = caller(&req);
        let owner = self.owner(caller.as_ref());
        let ListMultipartUploadsInput { bucket, prefix, .. } = req.input;
        let wanted = prefix.clone().unwrap_or_default();
        let list = async move |at: Entered| {
            let seen = |upload: &Upload| owner.as_ref().is_none_or(|owner| *owner == upload.owner);
            let uploads = at.uploads().map_err(internal)?.into_iter();
            let uploads = uploads.filter(|upload| upload.key.starts_with(&wanted) && seen(upload));
            Ok(uploads
                .map(|upload| MultipartUpload {
                    key: Some(upload.key),
                    upload_id: Some(upload.id),
                    initiated: Some(upload.begun.into()),
                    ..MultipartUpload::default()
                })
                .collect())
        };
        let uploads = Some(self.inside(caller, &bucket, list).await?);
        let (bucket, is_truncated) = (Some(bucket), Some(false));
        let output =
            ListMultipartUploadsOutput { bucket, prefix, uploads, is_truncated, ..Default::default() };
        Ok(S3Response::new(output))
    }

    async fn complete_multipart_upload(
        &self,
        mut req: S3Request<CompleteMultipartUploadInput>,
    ) -> Answer<CompleteMultipartUploadOutput> {
        let bucket = named(&mut req.input.bucket);
        let upload = (req.input.key.clone(), req.input.upload_id.clone());
        let complete = async move |at: Entered, req: S3Request<CompleteMultipartUploadInput>| {
            writable(&at, &req.input.key)?;
            objects::forget_checksums(at.folder(), &req.input.key).map_err(internal)?;
            let mut answer = at.files().complete_multipart_upload(req).await?;
            // s3s-fs has done the work by now, and hands the answer over as something still to come.
            if let Some(rest) = answer.output.future.take() {
                answer.output = rest.await?;
            }
            Ok(answer)
        };
        let mut answer = self.inside_upload(req, &bucket, upload, complete).await?;
        answer.output.bucket = Some(bucket);
        Ok(answer)
    }

    async fn abort_multipart_upload(
        &self,
        mut req: S3Request<AbortMultipartUploadInput>,
    ) -> Answer<AbortMultipartUploadOutput> {
        let bucket = named(&mut req.input.bucket);
        let upload = (req.input.key.clone(), req.input.upload_id.clone());
        let abort = |at: Entered, req| async move { at.files().abort_multipart_upload(req).await };
        self.inside_upload(req, &bucket, upload, abort).await
    }
}
