//! Codes, and what a driver says about itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use cosi_driver_sdk::{
    Bucket, CallContext, CreateBucketRequest, DeleteBucketRequest, Driver, DriverError, DriverInfo,
    ErrorKind, GrantAccessRequest, Protocol, async_trait,
};
use cosi_proto::v1alpha2::DriverGetInfoRequest;
use rstest::rstest;
use tonic::Code;

/// C27, COSI-ERR-2 to COSI-ERR-12: what a driver means is what its caller hears.
#[rstest]
#[case(ErrorKind::InvalidArgument, Code::InvalidArgument)]
#[case(ErrorKind::AlreadyExists, Code::AlreadyExists)]
#[case(ErrorKind::Unimplemented, Code::Unimplemented)]
#[case(ErrorKind::OutOfRange, Code::OutOfRange)]
#[case(ErrorKind::NotFound, Code::NotFound)]
#[case(ErrorKind::Aborted, Code::Aborted)]
#[case(ErrorKind::PermissionDenied, Code::PermissionDenied)]
#[case(ErrorKind::Unauthenticated, Code::Unauthenticated)]
#[case(ErrorKind::FailedPrecondition, Code::FailedPrecondition)]
#[case(ErrorKind::Unavailable, Code::Unavailable)]
#[case(ErrorKind::ResourceExhausted, Code::ResourceExhausted)]
#[case(ErrorKind::DeadlineExceeded, Code::DeadlineExceeded)]
#[case(ErrorKind::Internal, Code::Internal)]
#[tokio::test]
async fn every_kind_of_error_arrives_with_its_own_code(#[case] kind: ErrorKind, #[case] code: Code) {
    let grant =
        hook(move |_, _: GrantAccessRequest| async move { Err(DriverError::new(kind, "the reason")) });
    let served = Served::start(Scripted { grant, ..Scripted::default() }).await;
    let failure =
        served.client().await.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await.unwrap_err();
    assert_eq!((failure.code(), failure.message()), (code, "the reason"));
    assert!(failure.details().is_empty());
}

struct Fickle(Arc<AtomicUsize>);

#[async_trait]
impl Driver for Fickle {
    fn info(&self) -> DriverInfo {
        let asked = self.0.fetch_add(1, Ordering::SeqCst);
        DriverInfo::new(format!("fickle-{asked}"), [Protocol::S3]).unwrap()
    }

    async fn create_bucket(&self, _: &CallContext, _: CreateBucketRequest) -> Result<Bucket, DriverError> {
        Ok(bucket("x"))
    }

    async fn delete_bucket(&self, _: &CallContext, _: DeleteBucketRequest) -> Result<(), DriverError> {
        Ok(())
    }
}

/// C42, COSI-INFO-1, COSI-INFO-2: so neither a slow backend nor a change of mind is heard.
#[tokio::test]
async fn the_driver_is_asked_once_who_it_is() {
    let asked = Arc::new(AtomicUsize::new(0));
    let served = Served::start(Fickle(Arc::clone(&asked))).await;
    for _ in 0..3 {
        let info = served.identity().await.driver_get_info(DriverGetInfoRequest {}).await.unwrap();
        assert_eq!(info.into_inner().name, "fickle-0");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// COSI-INFO-4. Twice the same is once.
#[test]
fn a_driver_without_a_protocol_cannot_be() {
    let error = DriverInfo::new("a", []).unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
    assert_eq!(DriverInfo::new("a", [Protocol::S3, Protocol::S3]).unwrap().protocols().len(), 1);
}
