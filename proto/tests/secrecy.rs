//! I7 on the wire types: what the descriptor marks as secret never shows in Debug output.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::HashMap;
use std::fmt::Debug;

use cosi_proto::{FILE_DESCRIPTOR_SET, v1alpha2 as wire};
use prost::Message;
use protox::prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value,
};

const PACKAGE: &str = "sigs.k8s.io.cosi.v1alpha2";
const CANARY: &str = "canary-4fG7";
const PLAIN: &str = "plain-text";

/// Decodes the bytes as the message type of that name and prints it.
fn debug_of(message: &str, bytes: &[u8]) -> String {
    fn show<T: Message + Default + Debug>(bytes: &[u8]) -> String {
        format!("{0:?} {0:#?}", T::decode(bytes).unwrap())
    }
    macro_rules! table {
        ($($type:ident)*) => {
            match message {
                $(stringify!($type) => show::<wire::$type>(bytes),)*
                "DriverGrantBucketAccessRequest.AccessedBucket" => {
                    show::<wire::driver_grant_bucket_access_request::AccessedBucket>(bytes)
                }
                "DriverRevokeBucketAccessRequest.AccessedBucket" => {
                    show::<wire::driver_revoke_bucket_access_request::AccessedBucket>(bytes)
                }
                "DriverRevokeBucketAccessByNameRequest.AccessedBucket" => {
                    show::<wire::driver_revoke_bucket_access_by_name_request::AccessedBucket>(bytes)
                }
                "DriverGrantBucketAccessResponse.BucketInfo" => {
                    show::<wire::driver_grant_bucket_access_response::BucketInfo>(bytes)
                }
                unknown => panic!("{unknown} is not in this test's table"),
            }
        };
    }
    table! {
        DriverGetInfoRequest DriverGetInfoResponse ObjectProtocol ObjectProtocolAndBucketInfo CredentialInfo
        S3BucketInfo S3CredentialInfo S3AddressingStyle AzureBucketInfo AzureCredentialInfo GcsBucketInfo
        GcsCredentialInfo AuthenticationType AccessMode DriverCreateBucketRequest DriverCreateBucketResponse
        DriverGetExistingBucketRequest DriverGetExistingBucketResponse DriverDeleteBucketRequest
        DriverDeleteBucketResponse DriverGrantBucketAccessRequest DriverGrantBucketAccessResponse
        DriverRevokeBucketAccessRequest DriverRevokeBucketAccessResponse DriverDeleteBucketByNameRequest
        DriverDeleteBucketByNameResponse DriverRevokeBucketAccessByNameRequest
        DriverRevokeBucketAccessByNameResponse
    }
}

fn pool() -> DescriptorPool {
    DescriptorPool::decode(FILE_DESCRIPTOR_SET).unwrap()
}

fn own_messages(pool: &DescriptorPool) -> impl Iterator<Item = MessageDescriptor> {
    pool.all_messages().filter(|m| m.package_name() == PACKAGE && !m.is_map_entry())
}

fn is_secret(field: &FieldDescriptor) -> bool {
    let option = field.parent_pool().get_extension_by_name(&format!("{PACKAGE}.cosi_secret")).unwrap();
    field.options().get_extension(&option).as_bool().unwrap()
}

/// A message with every field set: the canary wherever a secret may be, plain text elsewhere.
fn filled(message: &MessageDescriptor) -> DynamicMessage {
    let mut made = DynamicMessage::new(message.clone());
    for field in message.fields() {
        let one = match field.kind() {
            _ if field.is_map() => {
                Value::Map(HashMap::from([(MapKey::String(PLAIN.into()), Value::String(CANARY.into()))]))
            }
            Kind::Message(inner) => Value::Message(filled(&inner)),
            Kind::String => Value::String(if is_secret(&field) { CANARY.into() } else { PLAIN.into() }),
            Kind::Enum(_) => Value::EnumNumber(1),
            other => panic!("{}: no value for {other:?}", field.full_name()),
        };
        let repeated = field.cardinality() == Cardinality::Repeated && !field.is_map();
        made.set_field(&field, if repeated { Value::List(vec![one]) } else { one });
    }
    made
}

#[test]
fn no_message_prints_a_secret_or_a_parameter_value() {
    let pool = pool();
    let (mut with_secret, mut messages) = (0, 0);
    for message in own_messages(&pool) {
        let bytes = filled(&message).encode_to_vec();
        let name = message.full_name().strip_prefix(&format!("{PACKAGE}.")).unwrap().to_owned();
        let printed = debug_of(&name, &bytes);
        assert!(!printed.contains(CANARY), "{name} prints its secret: {printed}");
        assert!(
            !bytes.windows(PLAIN.len()).any(|w| w == PLAIN.as_bytes())
                || printed.contains(PLAIN)
                || name.ends_with("CredentialInfo"),
            "{name} hides what is no secret: {printed}"
        );
        messages += 1;
        with_secret += usize::from(bytes.windows(CANARY.len()).any(|w| w == CANARY.as_bytes()));
    }
    assert_eq!((messages, with_secret), (32, 12));
}

#[test]
fn every_field_of_every_credential_message_is_marked_as_secret() {
    let pool = pool();
    let credentials: Vec<_> = own_messages(&pool).filter(|m| m.name().ends_with("CredentialInfo")).collect();
    assert_eq!(credentials.len(), 4);
    for field in credentials.iter().flat_map(MessageDescriptor::fields) {
        assert!(is_secret(&field), "{} is not marked", field.full_name());
    }
    let answer = pool.get_message_by_name(&format!("{PACKAGE}.DriverGrantBucketAccessResponse")).unwrap();
    assert!(is_secret(&answer.get_field_by_name("credentials").unwrap()));
}
