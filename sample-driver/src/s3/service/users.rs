//! Users and their keys, by the IAM API.

use aws_sdk_iam::{
    Client,
    error::BuildError,
    types::{AccessKeyMetadata, Tag},
};
use cosi_driver_sdk::{AccountKey, Credentials, DriverError, S3Credentials, Secret, async_trait};

use super::buckets::done;
use crate::s3::{
    failure::Failure,
    seam::{Made, Tagged, Tags, Users},
};

/// The one policy of each user. A later grant of the same name replaces it.
const POLICY: &str = "cosi";
const ABSENT: &str = "NoSuchEntity";

/// The users of a service.
pub struct ServiceUsers {
    pub(super) client: Client,
}

#[async_trait]
impl Tagged for ServiceUsers {
    async fn tags(&self, name: &str) -> Result<Option<Tags>, DriverError> {
        let mut tags = Tags::new();
        let mut pages = self.client.list_user_tags().user_name(name).into_paginator().items().send();
        while let Some(tag) = pages.next().await {
            match tag.map_err(|error| Failure::of(&error)) {
                Ok(tag) => drop(tags.insert(tag.key, tag.value)),
                Err(failure) if failure.code() == ABSENT => return Ok(None),
                Err(failure) => return Err(failure.while_doing(&format!("read the tags of user {name}"))),
            }
        }
        Ok(Some(tags))
    }

    async fn make(&self, name: &str, tags: &Tags) -> Result<Made, DriverError> {
        let what = format!("make user {name}");
        let made =
            self.client.create_user().user_name(name).set_tags(Some(iam_tags(tags, &what)?)).send().await;
        match made.map_err(|error| Failure::of(&error)) {
            Ok(_) => Ok(Made::New),
            Err(failure) if failure.code() == "EntityAlreadyExists" => Ok(Made::Taken),
            Err(failure) => Err(failure.while_doing(&what)),
        }
    }

    /// AWS has taken the tags along with the making; other services have not.
    async fn tag(&self, name: &str, tags: &Tags) -> Result<(), DriverError> {
        let what = format!("tag user {name}");
        let tags = iam_tags(tags, &what)?;
        done(self.client.tag_user().user_name(name).set_tags(Some(tags)).send().await, None, &what)
    }

    /// Keys first: should it be cut off, the user can do nothing any more.
    async fn delete(&self, name: &str) -> Result<(), DriverError> {
        for key in self.keys(name).await? {
            self.delete_key(name, &key).await?;
        }
        let policy = self.client.delete_user_policy().user_name(name).policy_name(POLICY).send().await;
        done(policy, Some(ABSENT), &format!("delete the policy of user {name}"))?;
        let user = self.client.delete_user().user_name(name).send().await;
        done(user, Some(ABSENT), &format!("delete user {name}"))
    }
}

#[async_trait]
impl Users for ServiceUsers {
    async fn allow(&self, user: &str, policy: &str) -> Result<(), DriverError> {
        let call = self.client.put_user_policy().user_name(user).policy_name(POLICY).policy_document(policy);
        done(call.send().await, None, &format!("set the policy of user {user}"))
    }

    async fn keys(&self, user: &str) -> Result<Vec<Secret>, DriverError> {
        let mut keys = Vec::<AccessKeyMetadata>::new();
        let mut pages = self.client.list_access_keys().user_name(user).into_paginator().items().send();
        while let Some(key) = pages.next().await {
            match key.map_err(|error| Failure::of(&error)) {
                Ok(key) => keys.push(key),
                Err(failure) if failure.code() == ABSENT => return Ok(vec![]),
                Err(failure) => return Err(failure.while_doing(&format!("list the keys of user {user}"))),
            }
        }
        keys.sort_by_key(|key| key.create_date.map(|date| date.as_nanos()));
        Ok(keys.into_iter().filter_map(|key| key.access_key_id).map(Secret::new).collect())
    }

    async fn create_key(&self, user: &str) -> Result<AccountKey, DriverError> {
        let what = format!("make a key for user {user}");
        let made = self.client.create_access_key().user_name(user).send().await;
        let made = made.map_err(|error| Failure::of(&error).while_doing(&what))?;
        let key = made.access_key.ok_or_else(|| Failure::Unreadable.while_doing(&what))?;
        let credentials = S3Credentials {
            access_key_id: Secret::new(key.access_key_id.clone()),
            access_secret_key: Secret::new(key.secret_access_key),
        };
        Ok(AccountKey { id: Secret::new(key.access_key_id), credentials: Credentials::S3(credentials) })
    }

    async fn delete_key(&self, user: &str, key: &Secret) -> Result<(), DriverError> {
        let deleted =
            self.client.delete_access_key().user_name(user).access_key_id(key.expose()).send().await;
        done(deleted, Some(ABSENT), &format!("delete a key of user {user}"))
    }
}

fn iam_tags(tags: &Tags, what: &str) -> Result<Vec<Tag>, DriverError> {
    let tags = tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build());
    tags.collect::<Result<_, _>>()
        .map_err(|error: BuildError| DriverError::internal(format!("can't {what}: {error}")))
}
