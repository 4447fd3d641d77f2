//! C46: how a server stops.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::time::Duration;

use common::*;
use cosi_driver_sdk::{ServeError, Server};
use tokio::task::JoinHandle;
use tonic::{Code, Request};

/// A server with one create at the gate.
async fn busy(gate: &Gate, drain: Duration) -> (Served, JoinHandle<Result<String, tonic::Status>>) {
    let served = Served::start_with(Server::new(Scripted::held(gate)).drain_timeout(drain)).await;
    let mut client = served.client().await;
    let call = tokio::spawn(async move {
        client.driver_create_bucket(create_request("bc-1")).await.map(|answer| answer.into_inner().bucket_id)
    });
    gate.reached().await;
    (served, call)
}

#[tokio::test]
async fn a_stop_waits_for_the_call_that_runs_and_lets_no_other_begin() {
    let gate = Gate::default();
    let (mut served, call) = busy(&gate, PATIENCE).await;
    let mut client = served.client().await;
    served.tell_to_stop();
    let refused = soon(async {
        loop {
            // Until the server has seen that it is to stop, calls still run.
            match client.driver_delete_bucket(delete_request("bc-2")).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(status) => return status,
            }
        }
    })
    .await;
    assert_eq!(refused.code(), Code::Unavailable);
    assert!(served.endpoint.path().exists(), "a successor must not start beside a running call");
    gate.open();
    assert_eq!(soon(call).await.unwrap().unwrap(), "bc-1");
    served.ended().await.unwrap();
}

#[tokio::test]
async fn a_stop_waits_for_a_call_whose_caller_went_away() {
    let gate = Gate::default();
    let (mut served, call) = busy(&gate, PATIENCE).await;
    call.abort();
    let _ = call.await;
    served.tell_to_stop();
    let mut client = served.client().await;
    soon(async { while client.driver_delete_bucket(delete_request("bc-2")).await.is_ok() {} }).await;
    assert!(served.endpoint.path().exists());
    gate.open();
    served.ended().await.unwrap();
}

#[tokio::test]
async fn a_call_that_does_not_end_cannot_hold_up_a_stop_for_ever() {
    let gate = Gate::default();
    let (mut served, _call) = busy(&gate, Duration::from_millis(50)).await;
    served.tell_to_stop();
    let error = served.ended().await.unwrap_err();
    assert!(matches!(error, ServeError::StillRunning { calls: 1, .. }), "{error:?}");
}

#[tokio::test]
async fn an_idle_client_does_not_hold_up_a_stop() {
    let mut served = Served::start(Scripted::default()).await;
    let mut client = served.client().await;
    client.driver_delete_bucket(delete_request("bc-1")).await.unwrap();
    served.tell_to_stop();
    served.ended().await.unwrap();
    let mut request = Request::new(delete_request("bc-1"));
    request.set_timeout(PATIENCE);
    soon(client.driver_delete_bucket(request)).await.unwrap_err();
}
