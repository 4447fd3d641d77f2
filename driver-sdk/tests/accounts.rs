//! Calls for one account are kept apart like those for one bucket (R3, COSI-GEN-4).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::time::Duration;

use common::*;
use cosi_driver_sdk::{GrantAccessRequest, RevokeAccessRequest};
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

/// A driver whose grants wait at the gate.
fn gated(gate: &Gate) -> Scripted {
    let gate = gate.clone();
    let grant = hook(move |_, request: GrantAccessRequest| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Ok(granted(&request))
        }
    });
    Scripted { grant, ..Scripted::default() }
}

fn begin_grant(client: &ProvisionerClient<Channel>) -> JoinHandle<Result<(), Status>> {
    let mut client = client.clone();
    tokio::spawn(
        async move { client.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await.map(drop) },
    )
}

fn aborted<T: std::fmt::Debug>(answer: Result<T, Status>) {
    assert_eq!(answer.unwrap_err().code(), Code::Aborted);
}

/// COSI-REVNAME-2.
#[tokio::test]
async fn a_revoke_by_name_is_aborted_while_the_grant_of_that_name_runs() {
    let gate = Gate::default();
    let served = Served::start(gated(&gate)).await;
    let mut client = served.client().await;
    let grant = begin_grant(&client);
    gate.reached().await;
    aborted(client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-1")).await);
    aborted(client.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await);
    client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-2")).await.unwrap();
    gate.open();
    soon(grant).await.unwrap().unwrap();
    client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-1")).await.unwrap();
}

#[tokio::test]
async fn a_revoke_by_id_is_aborted_while_the_grant_runs_whose_id_the_driver_can_tell() {
    let gate = Gate::default();
    let driver = Scripted { account_id_for: |name| name.as_str().parse().ok(), ..gated(&gate) };
    let served = Served::start(driver).await;
    let mut client = served.client().await;
    let grant = begin_grant(&client);
    gate.reached().await;
    aborted(client.driver_revoke_bucket_access(revoke_request("ba-1")).await);
    gate.open();
    soon(grant).await.unwrap().unwrap();
    client.driver_revoke_bucket_access(revoke_request("ba-1")).await.unwrap();
}

#[tokio::test]
async fn a_revoke_by_an_id_that_an_earlier_grant_answered_is_aborted_while_that_grant_is_repeated() {
    let gate = Gate::default();
    let served = Served::start(gated(&gate)).await;
    let mut client = served.client().await;
    for repeat in 0..2 {
        let grant = begin_grant(&client);
        gate.reached().await;
        if repeat == 1 {
            aborted(client.driver_revoke_bucket_access(revoke_request("ba-1")).await);
        }
        gate.open();
        soon(grant).await.unwrap().unwrap();
    }
}

/// The other way round: a repeated grant must not find the account that is just going.
#[tokio::test]
async fn a_grant_is_aborted_while_the_account_that_it_answered_is_being_revoked() {
    let gate = Gate::default();
    let inner = gate.clone();
    let revoke = hook(move |_, _: RevokeAccessRequest| {
        let gate = inner.clone();
        async move {
            gate.pass().await;
            Ok(())
        }
    });
    let served = Served::start(Scripted { revoke, ..Scripted::default() }).await;
    let mut client = served.client().await;
    client.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await.unwrap();
    let mut second = client.clone();
    let revoked =
        tokio::spawn(async move { second.driver_revoke_bucket_access(revoke_request("ba-1")).await });
    gate.reached().await;
    aborted(client.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await);
    gate.open();
    soon(revoked).await.unwrap().unwrap();
    client.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await.unwrap();
}

/// Trap 10.
#[tokio::test]
async fn a_grant_that_timed_out_holds_its_account_until_the_driver_has_ended() {
    let gate = Gate::default();
    let served = Served::start(gated(&gate)).await;
    let mut client = served.client().await;
    let mut request = Request::new(grant_request("ba-1", &["a"]));
    request.set_timeout(Duration::from_millis(200));
    soon(client.driver_grant_bucket_access(request)).await.unwrap_err();
    gate.reached().await;
    aborted(client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-1")).await);
    gate.open();
    soon(async {
        let revoke = || revoke_by_name_request("ba-1");
        while let Err(status) = client.driver_revoke_bucket_access_by_name(revoke()).await {
            assert_eq!(status.code(), Code::Aborted);
        }
    })
    .await;
}

/// C46, I7: a panic may hold anything, the key that was just made, too.
#[tokio::test]
async fn a_panic_in_a_grant_fails_the_one_call_and_tells_nothing() {
    let grant = hook(|_, _: GrantAccessRequest| async { panic!("canary") });
    let served = Served::start(Scripted { grant, ..Scripted::default() }).await;
    let mut client = served.client().await;
    for _ in 0..2 {
        let failure = client.driver_grant_bucket_access(grant_request("ba-1", &["a"])).await.unwrap_err();
        assert_eq!(failure.code(), Code::Internal);
        assert!(!failure.message().contains("canary"), "{failure:?}");
    }
    client.driver_revoke_bucket_access_by_name(revoke_by_name_request("ba-1")).await.unwrap();
}
