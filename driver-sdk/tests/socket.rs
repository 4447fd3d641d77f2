//! C40: what may be in the socket's place, and what becomes of the socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;

use common::*;
use cosi_driver_sdk::{BindError, Server};
use cosi_proto::v1alpha2::DriverGetInfoRequest;
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

#[tokio::test]
async fn the_stale_socket_of_a_dead_process_is_replaced() {
    let folder = TempDir::new().unwrap();
    let endpoint = endpoint_in(&folder);
    drop(UnixListener::bind(endpoint.path()).unwrap());
    assert!(endpoint.path().exists());
    let _server = Server::new(Scripted::default()).bind(&endpoint).await.unwrap();
    channel(&endpoint).await.unwrap();
}

#[tokio::test]
async fn the_socket_of_a_live_process_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let endpoint = endpoint_in(&folder);
    let _live = UnixListener::bind(endpoint.path()).unwrap();
    let before = fs::metadata(endpoint.path()).unwrap().ino();
    let error = Server::new(Scripted::default()).bind(&endpoint).await.map(drop).unwrap_err();
    assert!(matches!(error, BindError::InUse { .. }));
    assert!(error.to_string().contains("another process listens on it"));
    assert_eq!(fs::metadata(endpoint.path()).unwrap().ino(), before);
}

#[tokio::test]
async fn a_file_or_folder_or_link_in_the_sockets_place_is_left_alone() {
    let put: [fn(&std::path::Path); 3] = [
        |path| fs::write(path, "precious").unwrap(),
        |path| fs::create_dir(path).unwrap(),
        |path| std::os::unix::fs::symlink("/nowhere", path).unwrap(),
    ];
    for put in put {
        let folder = TempDir::new().unwrap();
        let endpoint = endpoint_in(&folder);
        put(endpoint.path());
        let error = Server::new(Scripted::default()).bind(&endpoint).await.map(drop).unwrap_err();
        assert!(matches!(error, BindError::NotASocket { .. }), "{error:?}");
        assert!(fs::symlink_metadata(endpoint.path()).is_ok());
    }
}

#[tokio::test]
async fn a_missing_folder_is_named() {
    let endpoint = "unix:///nowhere/at/all/cosi.sock".parse().unwrap();
    let error = Server::new(Scripted::default()).bind(&endpoint).await.map(drop).unwrap_err();
    assert!(matches!(error, BindError::Folder { .. }));
    assert!(error.to_string().contains("/nowhere/at/all/cosi.sock"));
}

#[tokio::test]
async fn the_socket_file_has_the_wanted_permissions_and_nothing_lies_beside_it() {
    for mode in [0o660, 0o600, 0o666] {
        let served = Served::start_with(Server::new(Scripted::default()).socket_mode(mode)).await;
        let found = fs::metadata(served.endpoint.path()).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{found:o}");
        assert_eq!(fs::read_dir(served.folder.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_clean_stop_removes_the_socket() {
    let mut served = Served::start(Scripted::default()).await;
    served.identity().await.driver_get_info(DriverGetInfoRequest {}).await.unwrap();
    assert!(served.endpoint.path().exists());
    served.tell_to_stop();
    served.ended().await.unwrap();
    assert!(!served.endpoint.path().exists());
}

#[tokio::test]
async fn a_stop_does_not_remove_the_socket_of_a_successor() {
    let folder = TempDir::new().unwrap();
    let endpoint = endpoint_in(&folder);
    let server = Server::new(Scripted::default()).bind(&endpoint).await.unwrap();
    fs::remove_file(endpoint.path()).unwrap();
    let _successor = UnixListener::bind(endpoint.path()).unwrap();
    drop(server);
    assert!(endpoint.path().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixteen_drivers_that_start_at_once_over_a_stale_socket_one_gets_it_and_keeps_it() {
    for _ in 0..5 {
        let folder = TempDir::new().unwrap();
        let endpoint = endpoint_in(&folder);
        drop(UnixListener::bind(endpoint.path()).unwrap());
        let mut starts = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let endpoint = endpoint.clone();
            starts.spawn(async move { Server::new(Scripted::default()).bind(&endpoint).await });
        }
        let (won, lost): (Vec<_>, Vec<_>) =
            soon(starts.join_all()).await.into_iter().partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        assert!(
            lost.into_iter().all(|start| matches!(start.map(drop).unwrap_err(), BindError::InUse { .. }))
        );
        channel(&endpoint).await.unwrap();
    }
}

/// Two that start at once: the later one must not remove what the earlier one has just put there.
#[tokio::test]
async fn a_start_leaves_the_folder_alone_while_another_process_puts_its_socket_there() {
    let folder = TempDir::new().unwrap();
    let endpoint = endpoint_in(&folder);
    drop(UnixListener::bind(endpoint.path()).unwrap());
    let stale = fs::metadata(endpoint.path()).unwrap().ino();
    let other = fs::File::open(folder.path()).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    let address = endpoint.clone();
    let start = tokio::spawn(async move { Server::new(Scripted::default()).bind(&address).await.map(drop) });
    // Long enough for a start that doesn't look at the lock.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fs::metadata(endpoint.path()).unwrap().ino(), stale);
    fs::remove_file(endpoint.path()).unwrap();
    let _live = UnixListener::bind(endpoint.path()).unwrap();
    drop(other);
    assert!(matches!(soon(start).await.unwrap().unwrap_err(), BindError::InUse { .. }));
}
