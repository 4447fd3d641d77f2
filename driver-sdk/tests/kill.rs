//! A driver with a ledger, killed again and again while it makes and unmakes: ledger and backend agree in the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;
#[allow(dead_code, reason = "an example is a program of its own")]
#[path = "../examples/opaque_ids.rs"]
mod opaque_ids;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::*;
use cosi_driver_sdk::{DriverInfo, Endpoint, NameLedger, Protocol, Server};
use cosi_proto::ENDPOINT_VARIABLE;
use cosi_proto::v1alpha2 as proto;
use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use opaque_ids::OpaqueIds;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tonic::transport::Channel;
use tonic::{Code, Status};

/// Where the driver keeps its things; set only for its own process.
const DATA: &str = "KILL_TEST_DATA";
const KILLS: usize = 100;
/// Calls at once in each life of the driver: creates, grants and their undos, for names that they share.
const CALLS: usize = 48;
const NAMES: usize = 6;

/// The driver's process is this test binary again, in which only this does anything.
#[test]
fn the_process_that_is_killed() {
    let Ok(data) = env::var(DATA) else { return };
    let (driver, endpoint) = (OpaqueIds::open(Path::new(&data)).unwrap(), Endpoint::from_env().unwrap());
    Runtime::new().unwrap().block_on(Server::new(driver).serve(&endpoint)).unwrap();
}

/// Killed when dropped, at whatever it does.
struct Driver(Child);

impl Driver {
    fn start(data: &TempDir, endpoint: &Endpoint) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_process_that_is_killed"]).stdout(Stdio::null());
        Self(command.env(DATA, data.path()).env(ENDPOINT_VARIABLE, endpoint.to_string()).spawn().unwrap())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

async fn client(endpoint: &Endpoint) -> ProvisionerClient<Channel> {
    soon(async {
        loop {
            match channel(endpoint).await {
                Ok(channel) => return ProvisionerClient::new(channel),
                Err(_) => tokio::task::yield_now().await,
            }
        }
    })
    .await
}

async fn undo_create(client: &mut ProvisionerClient<Channel>, name: &str) -> Result<(), Status> {
    let undo = proto::DriverDeleteBucketByNameRequest {
        protocols: create_request(name).protocols,
        ..delete_by_name_request(name)
    };
    client.driver_delete_bucket_by_name(undo).await.map(drop)
}

async fn undo_grant(client: &mut ProvisionerClient<Channel>, name: &str) -> Result<(), Status> {
    let bucket = proto::driver_revoke_bucket_access_by_name_request::AccessedBucket { bucket_id: "b".into() };
    let undo = proto::DriverRevokeBucketAccessByNameRequest {
        buckets: vec![bucket],
        ..revoke_by_name_request(name)
    };
    client.driver_revoke_bucket_access_by_name(undo).await.map(drop)
}

fn call(
    calls: &mut JoinSet<()>,
    number: usize,
    mut client: ProvisionerClient<Channel>,
    ended: UnboundedSender<()>,
) {
    let name = format!("x-{}", number % NAMES);
    calls.spawn(async move {
        let outcome = match (number / NAMES) % 4 {
            0 => client.driver_create_bucket(create_request(&name)).await.map(drop),
            1 => client.driver_grant_bucket_access(grant_request(&name, &["b"])).await.map(drop),
            2 => undo_create(&mut client, &name).await,
            _ => undo_grant(&mut client, &name).await,
        };
        if let Err(failure) = outcome {
            // The driver died, or another call for the name runs.
            let expected = [Code::Aborted, Code::Unavailable, Code::Unknown, Code::Cancelled];
            assert!(expected.contains(&failure.code()), "{failure:?}");
        }
        let _ = ended.send(());
    });
}

/// I1, COSI-GEN-6, COSI-DELNAME-1: the kill comes after every number of ended calls.
#[tokio::test(flavor = "multi_thread")]
async fn a_driver_killed_at_any_moment_loses_track_of_nothing() {
    let (data, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let endpoint = endpoint_in(&folder);
    for life in 0..KILLS {
        let driver = Driver::start(&data, &endpoint);
        let client = client(&endpoint).await;
        let (ended, mut ends) = unbounded_channel();
        let mut calls = JoinSet::new();
        (0..CALLS).for_each(|number| call(&mut calls, number, client.clone(), ended.clone()));
        for _ in 0..life % CALLS {
            soon(ends.recv()).await.unwrap();
        }
        drop(driver);
        soon(calls.join_all()).await;
    }
    let driver = Driver::start(&data, &endpoint);
    let mut client = client(&endpoint).await;
    for name in (0..NAMES).map(|name| format!("x-{name}")) {
        undo_create(&mut client, &name).await.unwrap();
        undo_grant(&mut client, &name).await.unwrap();
    }
    drop(driver);
    for place in ["buckets", "accounts", "drafts"] {
        assert_eq!(fs::read_dir(data.path().join(place)).unwrap().count(), 0, "{place}");
    }
    let info = DriverInfo::new("opaque-ids.example.com", [Protocol::S3]).unwrap();
    let ledger = NameLedger::open(data.path().join("ledger.redb"), &info).unwrap();
    for name in (0..NAMES).map(|name| format!("x-{name}")) {
        assert_eq!(ledger.buckets().find(&name).await.unwrap(), None, "{name}");
        assert_eq!(ledger.accounts().find(&name).await.unwrap(), None, "{name}");
    }
}
