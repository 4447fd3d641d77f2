//! Buckets, by the S3 API.

use aws_sdk_s3::{
    Client,
    config::http::HttpResponse,
    error::{BuildError, ProvideErrorMetadata, SdkError},
    types::{BucketLocationConstraint, CreateBucketConfiguration, Tag, Tagging},
};
use cosi_driver_sdk::{DriverError, async_trait};

use crate::s3::{
    failure::Failure,
    seam::{Made, Tagged, Tags},
};

/// The region in which a bucket is made if none is said; saying it there is an error.
const UNSAID: &str = "us-east-1";

/// The buckets of a service.
pub struct ServiceBuckets {
    pub(super) client: Client,
    pub(super) region: String,
}

#[async_trait]
impl Tagged for ServiceBuckets {
    async fn tags(&self, name: &str) -> Result<Option<Tags>, DriverError> {
        match self.client.get_bucket_tagging().bucket(name).send().await {
            Ok(found) => Ok(Some(found.tag_set.into_iter().map(|tag| (tag.key, tag.value)).collect())),
            Err(error) => match Failure::of(&error) {
                failure if failure.code() == "NoSuchBucket" => Ok(None),
                failure if ["NoSuchTagSet", "NoSuchTagSetError"].contains(&failure.code()) => {
                    Ok(Some(Tags::new()))
                }
                failure => Err(failure.while_doing(&format!("read the tags of bucket {name}"))),
            },
        }
    }

    async fn make(&self, name: &str, _: &Tags) -> Result<Made, DriverError> {
        let mut call = self.client.create_bucket().bucket(name);
        if self.region != UNSAID {
            let region = BucketLocationConstraint::from(self.region.as_str());
            let place = CreateBucketConfiguration::builder().location_constraint(region).build();
            call = call.create_bucket_configuration(place);
        }
        match call.send().await {
            Ok(_) => Ok(Made::New),
            Err(error) => match Failure::of(&error) {
                failure if ["BucketAlreadyOwnedByYou", "BucketAlreadyExists"].contains(&failure.code()) => {
                    Ok(Made::Taken)
                }
                failure => Err(failure.while_doing(&format!("make bucket {name}"))),
            },
        }
    }

    async fn tag(&self, name: &str, tags: &Tags) -> Result<(), DriverError> {
        let what = format!("tag bucket {name}");
        let tags: Result<Vec<_>, _> =
            tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect();
        let tagging = tags.and_then(|tags| Tagging::builder().set_tag_set(Some(tags)).build());
        let tagging =
            tagging.map_err(|error: BuildError| DriverError::internal(format!("can't {what}: {error}")))?;
        done(self.client.put_bucket_tagging().bucket(name).tagging(tagging).send().await, None, &what)
    }

    async fn delete(&self, name: &str) -> Result<(), DriverError> {
        let deleted = self.client.delete_bucket().bucket(name).send().await;
        done(deleted, Some("NoSuchBucket"), &format!("delete bucket {name}"))
    }
}

/// Success, also if the service answered `fine`.
pub(super) fn done<T, E>(
    answer: Result<T, SdkError<E, HttpResponse>>,
    fine: Option<&str>,
    what: &str,
) -> Result<(), DriverError>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    match answer.map_err(|error| Failure::of(&error)) {
        Err(failure) if Some(failure.code()) != fine => Err(failure.while_doing(what)),
        _ => Ok(()),
    }
}
