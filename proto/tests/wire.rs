//! The descriptor against the protocol's numbers: what an upstream driver or sidecar puts on the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use cosi_proto::FILE_DESCRIPTOR_SET;
use protox::prost_reflect::DescriptorPool;

const PACKAGE: &str = "sigs.k8s.io.cosi.v1alpha2";

fn pool() -> DescriptorPool {
    DescriptorPool::decode(FILE_DESCRIPTOR_SET).unwrap()
}

#[test]
fn every_field_has_the_number_that_upstream_gave_it() {
    let expected = [
        ("DriverGetInfoRequest", ""),
        ("DriverGetInfoResponse", "name=1 supported_protocols=2"),
        ("ObjectProtocol", "type=1"),
        ("ObjectProtocolAndBucketInfo", "s3=1 azure=2 gcs=3"),
        ("CredentialInfo", "s3=1 azure=2 gcs=3"),
        ("S3BucketInfo", "bucket_id=1 endpoint=2 region=3 addressing_style=4"),
        ("S3CredentialInfo", "access_key_id=1 access_secret_key=2"),
        ("S3AddressingStyle", "style=1"),
        ("AzureBucketInfo", "storage_account=1"),
        ("AzureCredentialInfo", "access_token=1 expiry_timestamp=2"),
        ("GcsBucketInfo", "project_id=1 bucket_name=2"),
        ("GcsCredentialInfo", "access_id=1 access_secret=2 private_key_name=3 service_account=4"),
        ("AuthenticationType", "type=1"),
        ("AccessMode", "mode=1"),
        ("DriverCreateBucketRequest", "name=1 protocols=2 parameters=4"),
        ("DriverCreateBucketResponse", "bucket_id=1 protocols=2"),
        ("DriverGetExistingBucketRequest", "existing_bucket_id=1 protocols=2 parameters=4"),
        ("DriverGetExistingBucketResponse", "bucket_id=1 protocols=2"),
        ("DriverDeleteBucketRequest", "bucket_id=1 parameters=4"),
        ("DriverDeleteBucketResponse", ""),
        (
            "DriverGrantBucketAccessRequest",
            "account_name=1 protocol=2 authentication_type=3 service_account_name=4 parameters=5 buckets=6",
        ),
        ("DriverGrantBucketAccessRequest.AccessedBucket", "bucket_id=1 access_mode=2"),
        ("DriverGrantBucketAccessResponse", "account_id=1 buckets=2 credentials=3"),
        ("DriverGrantBucketAccessResponse.BucketInfo", "bucket_id=1 bucket_info=2"),
        (
            "DriverRevokeBucketAccessRequest",
            "account_id=1 protocol=2 authentication_type=3 service_account_name=4 parameters=5 buckets=6",
        ),
        ("DriverRevokeBucketAccessRequest.AccessedBucket", "bucket_id=1"),
        ("DriverRevokeBucketAccessResponse", ""),
        ("DriverDeleteBucketByNameRequest", "name=1 protocols=2 parameters=4"),
        ("DriverDeleteBucketByNameResponse", ""),
        (
            "DriverRevokeBucketAccessByNameRequest",
            "account_name=1 protocol=2 authentication_type=3 service_account_name=4 parameters=5 buckets=6",
        ),
        ("DriverRevokeBucketAccessByNameRequest.AccessedBucket", "bucket_id=1"),
        ("DriverRevokeBucketAccessByNameResponse", ""),
    ];
    let pool = pool();
    for (message, fields) in expected {
        let message = pool.get_message_by_name(&format!("{PACKAGE}.{message}")).expect(message);
        let found: Vec<_> = message.fields().map(|f| format!("{}={}", f.name(), f.number())).collect();
        assert_eq!(found.join(" "), fields, "{}", message.full_name());
    }
}

#[test]
fn every_enum_value_has_the_number_that_upstream_gave_it() {
    let expected = [
        ("ObjectProtocol.Type", "UNKNOWN=0 S3=1 AZURE=2 GCS=3"),
        ("AuthenticationType.Type", "UNKNOWN=0 KEY=1 SERVICE_ACCOUNT=2"),
        ("AccessMode.Mode", "UNKNOWN=0 READ_WRITE=1 READ_ONLY=2 WRITE_ONLY=3"),
        ("S3AddressingStyle.Style", "UNKNOWN=0 PATH=1 VIRTUAL=2"),
    ];
    let pool = pool();
    for (name, values) in expected {
        let found = pool.get_enum_by_name(&format!("{PACKAGE}.{name}")).expect(name);
        let found: Vec<_> = found.values().map(|v| format!("{}={}", v.name(), v.number())).collect();
        assert_eq!(found.join(" "), values, "{name}");
    }
}

#[test]
fn the_services_have_upstreams_calls_and_our_two_are_marked_as_alpha() {
    let pool = pool();
    let alpha = pool.get_extension_by_name(&format!("{PACKAGE}.alpha_method")).unwrap();
    assert_eq!(alpha.number(), 1116);
    assert_eq!(pool.get_extension_by_name(&format!("{PACKAGE}.cosi_secret")).unwrap().number(), 1115);
    let mut calls = Vec::new();
    for method in pool.services().flat_map(|s| s.methods().collect::<Vec<_>>()) {
        let mark = if method.options().has_extension(&alpha) { "*" } else { "" };
        assert_eq!(method.input().name(), format!("{}Request", method.name()));
        assert_eq!(method.output().name(), format!("{}Response", method.name()));
        calls.push(format!("{}.{}{mark}", method.parent_service().name(), method.name()));
    }
    assert_eq!(
        calls,
        [
            "Identity.DriverGetInfo",
            "Provisioner.DriverCreateBucket",
            "Provisioner.DriverGetExistingBucket",
            "Provisioner.DriverDeleteBucket",
            "Provisioner.DriverGrantBucketAccess",
            "Provisioner.DriverRevokeBucketAccess",
            "Provisioner.DriverDeleteBucketByName*",
            "Provisioner.DriverRevokeBucketAccessByName*",
        ]
    );
}
