//! C46: SIGTERM. Alone in its file, since the signal goes to the whole test process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use common::*;
use cosi_driver_sdk::Server;
use rustix::process::{Signal, getpid, kill_process};
use tempfile::TempDir;

#[tokio::test]
async fn sigterm_lets_the_running_call_end_then_stops_the_server_and_removes_its_socket() {
    let folder = TempDir::new().unwrap();
    let endpoint = endpoint_in(&folder);
    let gate = Gate::default();
    let server = Server::new(Scripted::held(&gate));
    let address = endpoint.clone();
    let running = tokio::spawn(async move { server.serve(&address).await });
    let channel = soon(async {
        loop {
            match channel(&endpoint).await {
                Ok(channel) => return channel,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    })
    .await;
    let mut client = cosi_proto::v1alpha2::provisioner_client::ProvisionerClient::new(channel);
    let call = tokio::spawn(async move { client.driver_create_bucket(create_request("bc-1")).await });
    gate.reached().await;
    kill_process(getpid(), Signal::TERM).unwrap();
    gate.open();
    assert_eq!(soon(call).await.unwrap().unwrap().into_inner().bucket_id, "bc-1");
    soon(running).await.unwrap().unwrap();
    assert!(!endpoint.path().exists());
}
