//! The driver as a process, over its real socket.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use aws_sdk_s3::primitives::ByteStream;
use common::place::{PATIENCE, Place, connect, create, make, parameters, refused, s3};
use cosi_proto::v1alpha2::{
    DriverCreateBucketRequest, DriverDeleteBucketByNameRequest, DriverDeleteBucketRequest,
    DriverGetExistingBucketRequest, ObjectProtocol, object_protocol::Type,
    provisioner_client::ProvisionerClient,
};
use cosi_sample_driver::store::{Contents, IdPrefix, Request, Store};
use rstest::rstest;
use tokio::task::JoinSet;
use tonic::Code;

fn undo(name: &str, pairs: &[(&str, &str)]) -> DriverDeleteBucketByNameRequest {
    DriverDeleteBucketByNameRequest { name: name.into(), protocols: s3(), parameters: parameters(pairs) }
}

fn delete(id: &str, pairs: &[(&str, &str)]) -> DriverDeleteBucketRequest {
    DriverDeleteBucketRequest { bucket_id: id.into(), parameters: parameters(pairs) }
}

fn existing(id: &str) -> DriverGetExistingBucketRequest {
    DriverGetExistingBucketRequest { existing_bucket_id: id.into(), protocols: s3(), ..Default::default() }
}

#[tokio::test]
async fn a_bucket_is_made_used_kept_over_a_restart_and_deleted() {
    let place = Place::new();
    let driver = place.start(&["--id-prefix", "team-", "--region", "lab-1"]).await;
    assert_eq!(driver.info().await.unwrap(), "sample.objectstorage.local");
    let info = make(&driver, "bc-1", &[]).await;
    assert_eq!((info.bucket_id.as_str(), info.region.as_str()), ("team-bc-1", "lab-1"));
    let put = place.operator(&info).put_object().bucket(&info.bucket_id).key("key");
    put.body(ByteStream::from_static(b"kept")).send().await.unwrap();
    drop(driver);

    let driver = place.start(&["--id-prefix", "squad-"]).await;
    let info = make(&driver, "bc-1", &[]).await;
    assert_eq!(info.bucket_id, "team-bc-1");
    let object = place.operator(&info).get_object().bucket(&info.bucket_id).key("key").send().await.unwrap();
    assert_eq!(object.body.collect().await.unwrap().to_vec(), b"kept");
    let mut rpc = driver.rpc().await;
    assert_eq!(
        rpc.driver_get_existing_bucket(existing("team-bc-1")).await.unwrap().into_inner().bucket_id,
        "team-bc-1"
    );
    refused(
        rpc.driver_delete_bucket(delete("team-bc-1", &[])).await,
        Code::FailedPrecondition,
        "holds objects",
    );
    place.operator(&info).delete_object().bucket(&info.bucket_id).key("key").send().await.unwrap();
    rpc.driver_delete_bucket(delete("team-bc-1", &[])).await.unwrap();
    drop(driver);
    assert_eq!(place.buckets(), []);
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_the_right_code_and_in_words() {
    let place = Place::new();
    let driver = place.start(&[]).await;
    let mut rpc = driver.rpc().await;
    make(&driver, "bc-1", &[]).await;
    let long = "x".repeat(64);
    refused(rpc.driver_create_bucket(create(&long, &[])).await, Code::InvalidArgument, "63");
    refused(rpc.driver_create_bucket(create("bc-2", &[("tpyo", "1")])).await, Code::InvalidArgument, "tpyo");
    let azure = vec![ObjectProtocol { r#type: Type::Azure.into() }];
    let azure = DriverCreateBucketRequest { protocols: azure, ..create("bc-2", &[]) };
    refused(rpc.driver_create_bucket(azure).await, Code::InvalidArgument, "Azure");
    let other = [("deleteNonEmpty", "true")];
    refused(rpc.driver_create_bucket(create("bc-1", &other)).await, Code::AlreadyExists, "other");
    refused(rpc.driver_get_existing_bucket(existing("absent")).await, Code::NotFound, "absent");
    refused(rpc.driver_get_existing_bucket(existing("Not/A_Name")).await, Code::NotFound, "Not/A_Name");

    // None of that made, or undoes, anything.
    for nothing in
        [undo(&long, &[]), undo("bc-1", &other), undo("bc-2", &[("tpyo", "1")]), undo("absent", &[])]
    {
        rpc.driver_delete_bucket_by_name(nothing).await.unwrap();
    }
    for nothing in ["absent", "Not/A_Name", "../data", &long] {
        rpc.driver_delete_bucket(delete(nothing, &[])).await.unwrap();
    }
    drop(driver);
    assert_eq!(place.buckets().len(), 1);
}

#[tokio::test]
async fn a_bucket_may_be_deleted_with_its_contents_if_its_class_says_so() {
    let place = Place::new();
    let driver = place.start(&[]).await;
    let discard = [("deleteNonEmpty", "true")];
    let info = make(&driver, "bc-1", &discard).await;
    place.operator(&info).put_object().bucket("bc-1").key("a/b").send().await.unwrap();
    driver.rpc().await.driver_delete_bucket_by_name(undo("bc-1", &discard)).await.unwrap();
    drop(driver);
    assert_eq!(place.buckets(), []);
}

/// The window that the whole project is about: made, and not yet said so.
#[tokio::test]
async fn a_slow_create_has_made_its_bucket_before_it_answers_and_cannot_be_undone_meanwhile() {
    let place = Place::new();
    let driver = place.start(&["--create-delay", "1h"]).await;
    let mut rpc = driver.rpc().await;
    let pending = tokio::spawn(async move { rpc.driver_create_bucket(create("bc-1", &[])).await });
    let give_up = Instant::now() + PATIENCE;
    while !place.data().join("buckets/bc-1").exists() {
        assert!(Instant::now() < give_up);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    refused(driver.rpc().await.driver_delete_bucket_by_name(undo("bc-1", &[])).await, Code::Aborted, "");
    assert!(!pending.is_finished());
    drop(driver);
    let driver = place.start(&[]).await;
    driver.rpc().await.driver_delete_bucket_by_name(undo("bc-1", &[])).await.unwrap();
    drop(driver);
    assert_eq!(place.buckets(), []);
}

/// `None` when the driver died meanwhile.
async fn make_and_delete_every_second(socket: PathBuf, round: usize, n: usize) -> Option<()> {
    let mut rpc = ProvisionerClient::new(connect(&socket).await.ok()?);
    let made = rpc.driver_create_bucket(create(&format!("bc-{round}-{n}"), &[])).await.ok()?.into_inner();
    if n.is_multiple_of(2) {
        rpc.driver_delete_bucket(delete(&made.bucket_id, &[])).await.ok()?;
    }
    Some(())
}

/// I1: whatever the driver was doing when it died, undoing every create by name leaves nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_driver_killed_at_any_moment_loses_track_of_nothing() {
    let place = Place::new();
    for round in 0..12 {
        let driver = place.start(&[]).await;
        let mut calls: JoinSet<_> =
            (0..16).map(|n| make_and_delete_every_second(driver.socket.clone(), round, n)).collect();
        // So many calls have ended when it dies; the others are anywhere.
        for _ in 0..round {
            let ended = tokio::time::timeout(PATIENCE, calls.join_next()).await;
            assert_eq!(ended.unwrap().unwrap().unwrap(), Some(()));
        }
        driver.signal("-KILL");
        drop(driver);
        calls.join_all().await;
    }
    let store = Store::open(&place.data(), IdPrefix::default()).unwrap();
    println!("{} buckets were there", store.list().unwrap().len());
    for (round, n) in (0..12).flat_map(|round| (0..16).map(move |n| (round, n))) {
        let request = Request {
            name: format!("bc-{round}-{n}"),
            protocols: ["S3".to_owned()].into(),
            parameters: BTreeMap::new(),
        };
        store.delete_by_name(request, Contents::Keep).await.unwrap();
    }
    assert_eq!(store.list().unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_rounds_of_create_beside_its_undo_over_the_socket_leave_nothing_after_one_more_undo() {
    let place = Place::new();
    let driver = place.start(&["--log-level", "error"]).await;
    let rpc = driver.rpc().await;
    for round in 0..200 {
        let name = format!("bc-{round}");
        let (mut one, mut two, mut three) = (rpc.clone(), rpc.clone(), rpc.clone());
        let (made, undone) = tokio::join!(
            one.driver_create_bucket(create(&name, &[])),
            two.driver_delete_bucket_by_name(undo(&name, &[]))
        );
        for failed in [made.err(), undone.err()].into_iter().flatten() {
            assert_eq!(failed.code(), Code::Aborted);
        }
        three.driver_delete_bucket_by_name(undo(&name, &[])).await.unwrap();
    }
    drop(driver);
    assert_eq!(place.buckets(), []);
}

#[tokio::test]
async fn sigterm_ends_the_driver_cleanly_and_takes_the_socket_away() {
    let place = Place::new();
    let driver = place.start(&[]).await;
    make(&driver, "bc-1", &[]).await;
    driver.signal("-TERM");
    let status = driver.ended();
    assert!(status.success(), "{status}: {}", place.log());
    assert!(!place.socket().exists());
    assert_eq!(place.buckets().len(), 1);
}

/// I7.
#[tokio::test]
async fn the_operators_secret_is_in_its_file_and_nowhere_else() {
    let place = Place::new();
    let driver = place.start(&["--log-level", "trace"]).await;
    let info = make(&driver, "bc-1", &[]).await;
    let s3 = place.operator(&info);
    s3.put_object().bucket("bc-1").key("key").send().await.unwrap();
    assert!(s3.get_object().bucket("bc-1").key("absent").send().await.is_err());
    let credentials = std::fs::read_to_string(place.data().join("operator-credentials")).unwrap();
    let secret = credentials.lines().find_map(|line| line.strip_prefix("aws_secret_access_key = ")).unwrap();
    assert!(place.log().contains("S3 server listens"));
    assert!(!place.log().contains(secret));
    assert!(!place.log().to_lowercase().contains("signature="), "a signed header was logged");
}

#[tokio::test]
async fn a_taken_s3_port_is_named() {
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let (status, log) = Place::new().refusal(&["--s3-listen", &taken]);
    assert_eq!(status.code(), Some(1));
    assert!(
        log.lines().last().unwrap().contains(&format!("can't listen for S3 on {taken} (--s3-listen)")),
        "{log}"
    );
}

#[rstest]
#[case::address(&["--s3-listen", "192.0.2.1:9"], "can't listen for S3 on 192.0.2.1:9 (--s3-listen)")]
#[case::endpoint(&["--s3-listen", "0.0.0.0:0"], "--s3-endpoint")]
#[case::credentials(&["--credentials-file", "/dev/null/file"], "credentials file /dev/null/file can't be used")]
#[tokio::test]
async fn a_driver_that_cannot_start_says_why_in_its_last_line(#[case] flags: &[&str], #[case] words: &str) {
    let (status, log) = Place::new().refusal(flags);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains(words), "{log}");
}

#[tokio::test]
async fn data_beside_the_socket_a_file_as_data_folder_and_a_socket_in_use_are_refused() {
    let place = Place::new();
    let beside = place.socket().parent().unwrap().join("data");
    let (status, log) = place.refusal(&["--data-dir", beside.to_str().unwrap()]);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains("must not be the socket's folder"), "{log}");
    std::fs::write(place.data(), "a file").unwrap();
    let (status, log) = place.refusal(&[]);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains("can't be written"), "{log}");
    std::fs::remove_file(place.data()).unwrap();

    let _first = place.start(&[]).await;
    let (status, log) = place.refusal(&[]);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains("in use by another process"), "{log}");
}
