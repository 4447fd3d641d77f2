//! What a driver's calls look like from the other side of the socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use cosi_driver_sdk::{
    Bucket, CallContext, CreateBucketRequest, DeleteBucketRequest, Driver, DriverError, DriverInfo, Protocol,
    async_trait,
};
use cosi_proto::NOT_AFTER_KEY;
use cosi_proto::v1alpha2 as proto;
use tokio::sync::Barrier;
use tonic::{Code, Request};

#[tokio::test]
async fn what_the_driver_answers_reaches_the_caller() {
    let served = Served::start(Scripted::default()).await;
    let info =
        served.identity().await.driver_get_info(proto::DriverGetInfoRequest {}).await.unwrap().into_inner();
    assert_eq!((info.name.as_str(), info.supported_protocols.len()), ("scripted.example.com", 2));
    let mut client = served.client().await;
    let made = client.driver_create_bucket(create_request("bc-1")).await.unwrap().into_inner();
    let s3 = made.protocols.unwrap().s3.unwrap();
    assert_eq!((made.bucket_id.as_str(), s3.endpoint.as_str()), ("bc-1", "https://s3.example.com"));
    let existing =
        proto::DriverGetExistingBucketRequest { existing_bucket_id: "x/y".into(), ..Default::default() };
    assert_eq!(client.driver_get_existing_bucket(existing).await.unwrap().into_inner().bucket_id, "x/y");
    let granted = client.driver_grant_bucket_access(grant_request("ba-1", &["bc-1", "bc-2"])).await.unwrap();
    let granted = granted.into_inner();
    assert_eq!((granted.account_id.as_str(), granted.buckets.len()), ("ba-1", 2));
    assert_eq!(granted.credentials.unwrap().s3.unwrap().access_secret_key, "canary-key");
    client.driver_revoke_bucket_access(revoke_request("ba-1")).await.unwrap();
    client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-1")).await.unwrap();
    client.driver_delete_bucket(delete_request("bc-1")).await.unwrap();
    client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap();
}

struct Smallest;

#[async_trait]
impl Driver for Smallest {
    fn info(&self) -> DriverInfo {
        DriverInfo::new("smallest", [Protocol::S3]).unwrap()
    }

    async fn create_bucket(
        &self,
        _: &CallContext,
        request: CreateBucketRequest,
    ) -> Result<Bucket, DriverError> {
        Ok(bucket(request.name.as_str()))
    }

    async fn delete_bucket(&self, _: &CallContext, _: DeleteBucketRequest) -> Result<(), DriverError> {
        Ok(())
    }
}

#[tokio::test]
async fn what_a_driver_does_not_implement_is_unimplemented() {
    let served = Served::start(Smallest).await;
    let mut client = served.client().await;
    let existing =
        proto::DriverGetExistingBucketRequest { existing_bucket_id: "x".into(), ..Default::default() };
    let failures = [
        client.driver_get_existing_bucket(existing).await.unwrap_err(),
        client.driver_grant_bucket_access(grant_request("ba-1", &["x"])).await.unwrap_err(),
        client.driver_revoke_bucket_access(revoke_request("ba-1")).await.unwrap_err(),
        client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap_err(),
        client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-1")).await.unwrap_err(),
    ];
    for failure in failures {
        assert_eq!(failure.code(), Code::Unimplemented);
        assert!(failure.message().starts_with("this driver can't "));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_callers_for_one_name_one_at_a_time_runs() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, highest) = (Arc::clone(&running), Arc::clone(&most));
    let create = hook(move |_, request: CreateBucketRequest| {
        let (inside, highest) = (Arc::clone(&inside), Arc::clone(&highest));
        async move {
            highest.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            inside.fetch_sub(1, Ordering::SeqCst);
            Ok(bucket(request.name.as_str()))
        }
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let mut client = served.client().await;
        callers.spawn(async move {
            loop {
                match client.driver_create_bucket(create_request("bc-1")).await {
                    Ok(answer) => return answer.into_inner().bucket_id,
                    Err(status) => assert_eq!(status.code(), Code::Aborted),
                }
            }
        });
    }
    let ids = soon(callers.join_all()).await;
    assert_eq!(ids, vec!["bc-1"; 16]);
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn sixteen_callers_for_different_names_run_side_by_side() {
    let barrier = Arc::new(Barrier::new(16));
    let create = hook(move |_, request: CreateBucketRequest| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok(bucket(request.name.as_str()))
        }
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let client = served.client().await;
    let calls = (0..16).map(|number| {
        let mut client = client.clone();
        async move { client.driver_create_bucket(create_request(&format!("bc-{number}"))).await.unwrap() }
    });
    soon(futures::future::join_all(calls)).await;
}

#[tokio::test]
async fn a_delete_by_name_is_aborted_while_the_create_of_that_name_runs() {
    let gate = Gate::default();
    let served = Served::start(Scripted::held(&gate)).await;
    let mut client = served.client().await;
    let mut creator = client.clone();
    let create = tokio::spawn(async move { creator.driver_create_bucket(create_request("bc-1")).await });
    gate.reached().await;
    let busy = client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap_err();
    assert_eq!(busy.code(), Code::Aborted);
    client.driver_delete_bucket_by_name(delete_by_name_request("bc-2")).await.unwrap();
    gate.open();
    soon(create).await.unwrap().unwrap();
    client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap();
}

#[tokio::test]
async fn a_delete_by_id_is_aborted_while_the_create_runs_whose_id_the_driver_can_tell() {
    let gate = Gate::default();
    let served =
        Served::start(Scripted { id_for: |name| name.as_str().parse().ok(), ..Scripted::held(&gate) }).await;
    let mut client = served.client().await;
    let mut creator = client.clone();
    let create = tokio::spawn(async move { creator.driver_create_bucket(create_request("bc-1")).await });
    gate.reached().await;
    assert_eq!(client.driver_delete_bucket(delete_request("bc-1")).await.unwrap_err().code(), Code::Aborted);
    gate.open();
    soon(create).await.unwrap().unwrap();
    client.driver_delete_bucket(delete_request("bc-1")).await.unwrap();
}

#[tokio::test]
async fn a_delete_by_an_id_that_an_earlier_create_answered_is_aborted_while_that_create_is_repeated() {
    let gate = Gate::default();
    let served = Served::start(Scripted::held(&gate)).await;
    let mut client = served.client().await;
    for repeat in 0..2 {
        let mut creator = client.clone();
        let create = tokio::spawn(async move { creator.driver_create_bucket(create_request("bc-1")).await });
        gate.reached().await;
        if repeat == 1 {
            assert_eq!(
                client.driver_delete_bucket(delete_request("bc-1")).await.unwrap_err().code(),
                Code::Aborted
            );
        }
        gate.open();
        soon(create).await.unwrap().unwrap();
    }
}

/// Trap 10: the transport drops the handler at the caller's timeout.
#[tokio::test]
async fn a_call_that_timed_out_holds_its_name_until_the_driver_has_ended() {
    let gate = Gate::default();
    let served = Served::start(Scripted::held(&gate)).await;
    let mut client = served.client().await;
    let mut request = Request::new(create_request("bc-1"));
    request.set_timeout(Duration::from_millis(200));
    soon(client.driver_create_bucket(request)).await.unwrap_err();
    gate.reached().await;
    let busy = client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap_err();
    assert_eq!(busy.code(), Code::Aborted);
    gate.open();
    soon(until_free(&mut client, "bc-1")).await;
}

async fn until_free(
    client: &mut proto::provisioner_client::ProvisionerClient<tonic::transport::Channel>,
    name: &str,
) {
    while let Err(status) = client.driver_delete_bucket_by_name(delete_by_name_request(name)).await {
        assert_eq!(status.code(), Code::Aborted);
    }
}

#[tokio::test]
async fn a_call_whose_caller_went_away_holds_its_name_and_the_driver_is_told() {
    let (gate, told) = (Gate::default(), Gate::default());
    let (inner, teller) = (gate.clone(), told.clone());
    let create = hook(move |context: CallContext, request: CreateBucketRequest| {
        let (gate, told) = (inner.clone(), teller.clone());
        async move {
            assert!(!context.is_abandoned());
            gate.pass().await;
            context.abandoned().await;
            told.pass().await;
            Ok(bucket(request.name.as_str()))
        }
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let mut creator = served.client().await;
    let create = tokio::spawn(async move { creator.driver_create_bucket(create_request("bc-1")).await });
    gate.reached().await;
    create.abort();
    gate.open();
    told.reached().await;
    let mut client = served.client().await;
    let busy = client.driver_create_bucket(create_request("bc-1")).await.unwrap_err();
    assert_eq!(busy.code(), Code::Aborted);
    told.open();
    soon(until_free(&mut client, "bc-1")).await;
}

#[tokio::test]
async fn the_driver_knows_how_long_its_caller_waits() {
    let create = hook(|context: CallContext, request: CreateBucketRequest| async move {
        let left = context.remaining().expect("a deadline");
        assert!(left <= Duration::from_mins(1) && left > Duration::from_secs(30), "{left:?}");
        Ok(bucket(request.name.as_str()))
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let mut request = Request::new(create_request("bc-1"));
    request.set_timeout(Duration::from_mins(1));
    served.client().await.driver_create_bucket(request).await.unwrap();
}

/// C46.
#[tokio::test]
async fn a_panic_fails_the_one_call_and_frees_its_name() {
    let create = hook(|_, _: CreateBucketRequest| async { panic!("canary: the driver's own words") });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let mut client = served.client().await;
    for _ in 0..2 {
        let failure = client.driver_create_bucket(create_request("bc-1")).await.unwrap_err();
        assert_eq!(failure.code(), Code::Internal);
        assert!(!failure.message().is_empty() && !failure.message().contains("canary"));
    }
    client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap();
}

/// C46.
#[tokio::test]
async fn a_panic_while_the_driver_is_asked_for_an_id_fails_the_one_call() {
    let served = Served::start(Scripted { id_for: |_| panic!("no"), ..Scripted::default() }).await;
    let mut client = served.client().await;
    let failure = client.driver_create_bucket(create_request("bc-1")).await.unwrap_err();
    assert_eq!(failure.code(), Code::Internal);
    client.driver_delete_bucket(delete_request("bc-1")).await.unwrap();
}

/// R15, COSI-GEN-11.
#[tokio::test]
async fn a_call_that_comes_too_late_is_refused_before_the_driver_sees_it() {
    let create = hook(|_, _: CreateBucketRequest| async { panic!("called") });
    let grant = hook(|_, _| async { panic!("called") });
    let served = Served::start(Scripted { create, grant, ..Scripted::default() }).await;
    let mut client = served.client().await;
    for (limit, code) in [("1", Code::FailedPrecondition), ("soon", Code::InvalidArgument)] {
        let refusals = [
            client.driver_create_bucket(limited(create_request("bc-1"), limit)).await.map(drop),
            client.driver_delete_bucket(limited(delete_request("bc-1"), limit)).await.map(drop),
            client
                .driver_delete_bucket_by_name(limited(delete_by_name_request("bc-1"), limit))
                .await
                .map(drop),
            client.driver_grant_bucket_access(limited(grant_request("ba-1", &["x"]), limit)).await.map(drop),
            client.driver_revoke_bucket_access(limited(revoke_request("ba-1"), limit)).await.map(drop),
            client
                .driver_revoke_bucket_access_by_name(limited(revoke_by_name_request("ba-1"), limit))
                .await
                .map(drop),
        ];
        assert_eq!(refusals.map(|refusal| refusal.unwrap_err().code()), [code; 6]);
    }
    client.driver_delete_bucket_by_name(delete_by_name_request("bc-1")).await.unwrap();
}

fn limited<T>(message: T, limit: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert(NOT_AFTER_KEY, limit.parse().unwrap());
    request
}

#[tokio::test]
async fn a_call_that_comes_in_time_runs() {
    let served = Served::start(Scripted::default()).await;
    let mut request = Request::new(create_request("bc-1"));
    request.metadata_mut().insert(NOT_AFTER_KEY, u64::MAX.to_string().parse().unwrap());
    served.client().await.driver_create_bucket(request).await.unwrap();
}

/// C30: whatever is in the message, it arrives, and the connection lives on.
#[tokio::test]
async fn odd_and_long_messages_of_a_driver_arrive() {
    let create = hook(|_, _: CreateBucketRequest| async {
        Err(DriverError::unavailable(format!("zero \0, line\n, ü{}", "x".repeat(100_000))))
    });
    let served = Served::start(Scripted { create, ..Scripted::default() }).await;
    let mut client = served.client().await;
    let failure = client.driver_create_bucket(create_request("bc-1")).await.unwrap_err();
    assert_eq!(failure.code(), Code::Unavailable);
    assert!(failure.message().starts_with("zero \0, line\n, üx"), "{}", failure.message());
    client.driver_delete_bucket(delete_request("bc-1")).await.unwrap();
}
