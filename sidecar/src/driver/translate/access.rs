//! What is asked for an access, and what a driver grants.

use cosi_api::{BucketAccessAuthenticationType, BucketAccessMode, ObjectProtocol, keys};
use cosi_lifecycle::access::{CallOk, GrantedBucket, SecretData};
use cosi_proto::v1alpha2 as wire;

use super::info::info;

/// The wire's form of a type of authentication.
pub(in crate::driver) fn authentication(of: BucketAccessAuthenticationType) -> wire::AuthenticationType {
    let number = match of {
        BucketAccessAuthenticationType::Key => wire::authentication_type::Type::Key,
        BucketAccessAuthenticationType::ServiceAccount => wire::authentication_type::Type::ServiceAccount,
    };
    wire::AuthenticationType { r#type: number.into() }
}

/// The wire's form of what may be done in a bucket.
pub(in crate::driver) fn mode(mode: BucketAccessMode) -> wire::AccessMode {
    let number = match mode {
        BucketAccessMode::ReadWrite => wire::access_mode::Mode::ReadWrite,
        BucketAccessMode::ReadOnly => wire::access_mode::Mode::ReadOnly,
        BucketAccessMode::WriteOnly => wire::access_mode::Mode::WriteOnly,
    };
    wire::AccessMode { mode: number.into() }
}

/// What Grant answered. Credentials go straight to where they cannot be printed.
pub(in crate::driver) fn granted(answer: wire::DriverGrantBucketAccessResponse) -> CallOk {
    let bucket = |bucket: wire::driver_grant_bucket_access_response::BucketInfo| GrantedBucket {
        id: bucket.bucket_id,
        info: info(bucket.bucket_info),
    };
    CallOk::Granted {
        id: answer.account_id,
        buckets: answer.buckets.into_iter().map(bucket).collect(),
        credentials: credentials(answer.credentials.unwrap_or_default()),
    }
}

fn credentials(credentials: wire::CredentialInfo) -> Vec<(ObjectProtocol, SecretData)> {
    let wire::CredentialInfo { s3, azure, gcs } = credentials;
    let s3 = s3.map(|s3| {
        let pairs = [
            (keys::s3::ACCESS_KEY_ID, s3.access_key_id),
            (keys::s3::ACCESS_SECRET_KEY, s3.access_secret_key),
        ];
        (ObjectProtocol::S3, hidden(pairs))
    });
    let azure = azure.map(|azure| {
        let pairs = [
            (keys::azure::ACCESS_TOKEN, azure.access_token),
            (keys::azure::EXPIRY_TIMESTAMP, azure.expiry_timestamp),
        ];
        (ObjectProtocol::Azure, hidden(pairs))
    });
    let gcs = gcs.map(|gcs| {
        let pairs = [
            (keys::gcs::ACCESS_ID, gcs.access_id),
            (keys::gcs::ACCESS_SECRET, gcs.access_secret),
            (keys::gcs::PRIVATE_KEY_NAME, gcs.private_key_name),
            (keys::gcs::SERVICE_ACCOUNT, gcs.service_account),
        ];
        (ObjectProtocol::Gcs, hidden(pairs))
    });
    [s3, azure, gcs].into_iter().flatten().collect()
}

fn hidden(pairs: impl IntoIterator<Item = (&'static str, String)>) -> SecretData {
    let mut data = SecretData::default();
    for (key, value) in pairs {
        data.set(key, value);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use cosi_lifecycle::access::{Effect, Event, Owner, Place, Version};

    fn answer() -> wire::DriverGrantBucketAccessResponse {
        let text = str::to_owned;
        wire::DriverGrantBucketAccessResponse {
            account_id: text("account"),
            buckets: vec![wire::driver_grant_bucket_access_response::BucketInfo {
                bucket_id: text("b"),
                bucket_info: Some(wire::ObjectProtocolAndBucketInfo {
                    s3: Some(wire::S3BucketInfo { endpoint: text("http://s3"), ..Default::default() }),
                    azure: Some(wire::AzureBucketInfo { storage_account: text("store") }),
                    gcs: None,
                }),
            }],
            credentials: Some(wire::CredentialInfo {
                s3: Some(wire::S3CredentialInfo {
                    access_key_id: text("canary-1"),
                    access_secret_key: text("canary-2"),
                }),
                azure: Some(wire::AzureCredentialInfo {
                    access_token: text("canary-3"),
                    ..Default::default()
                }),
                gcs: Some(wire::GcsCredentialInfo {
                    access_id: text("canary-4"),
                    access_secret: text("canary-5"),
                    private_key_name: text("canary-6"),
                    service_account: text("canary-7"),
                }),
            }),
        }
    }

    #[test]
    fn a_grant_brings_info_and_credentials_of_each_protocol_under_cosis_keys() {
        let CallOk::Granted { id, buckets, credentials } = granted(answer()) else { panic!("not granted") };
        assert_eq!((id.as_str(), buckets.len()), ("account", 1));
        let (protocol, info) = &buckets[0].info[0];
        assert_eq!((*protocol, info[keys::s3::ENDPOINT].as_str()), (ObjectProtocol::S3, "http://s3"));
        assert!(!info.contains_key(keys::s3::REGION), "C36: empty is as good as missing");
        assert_eq!(buckets[0].info[1].1[keys::azure::STORAGE_ACCOUNT], "store");
        let values: Vec<_> = credentials.iter().flat_map(|(_, data)| data.iter().map(|(_, v)| v)).collect();
        assert_eq!(values.len(), 7, "all of them, each under its own key");
        assert_eq!(credentials[1].1.get(keys::azure::EXPIRY_TIMESTAMP), None);
        assert_eq!(credentials[2].1.get(keys::gcs::ACCESS_SECRET), Some("canary-5"));
    }

    #[test]
    fn a_grant_without_credentials_has_none() {
        let empty = granted(wire::DriverGrantBucketAccessResponse::default());
        assert!(
            matches!(empty, CallOk::Granted { buckets, credentials, .. } if buckets.is_empty() && credentials.is_empty())
        );
    }

    /// I7: whatever is printed of a call and of what follows from it, at whatever level, and by a panic that nobody thought of.
    #[test]
    fn nothing_of_a_grant_can_be_printed_not_even_by_a_panic() {
        let place = Place { namespace: "n".into(), name: "s".into() };
        let owner = Owner { name: "a".into(), uid: "u".into() };
        let secret = Version { place: place.clone(), uid: "su".into(), resource_version: "1".into() };
        let wire = answer();
        let ok = granted(wire.clone());
        let CallOk::Granted { credentials, .. } = &ok else { panic!("not granted") };
        let mut effects = Vec::new();
        for (_, data) in credentials {
            let data = data.clone();
            effects.push(Effect::CreateSecret {
                place: place.clone(),
                owner: owner.clone(),
                data: data.clone(),
            });
            effects.push(Effect::WriteSecret { secret: secret.clone(), data });
        }
        let event = Event::Called(Ok(ok));
        let mut texts = vec![format!("{wire:?} {wire:#?} {event:?} {event:#?} {effects:?} {effects:#?}")];
        for panics in [
            std::panic::catch_unwind(|| panic!("{:?}", &wire)),
            std::panic::catch_unwind(|| assert_eq!(event, Event::Told)),
            std::panic::catch_unwind(|| panic!("no effects: {:?}", &effects)),
        ] {
            texts.push(*panics.unwrap_err().downcast::<String>().unwrap());
        }
        for text in texts {
            assert!(text.len() > 20 && !text.contains("canary"), "{text}");
        }
    }

    #[test]
    fn every_mode_and_every_type_has_its_number() {
        use BucketAccessAuthenticationType as Type;
        use BucketAccessMode as Mode;
        assert_eq!([Mode::ReadWrite, Mode::ReadOnly, Mode::WriteOnly].map(|m| mode(m).mode), [1, 2, 3]);
        assert_eq!([Type::Key, Type::ServiceAccount].map(|t| authentication(t).r#type), [1, 2]);
    }
}
