//! Accounts over the driver's real socket.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    time::{Duration, Instant},
};

use common::{
    grants::{grant, granted, key, revoke, undo, user},
    place::{PATIENCE, Place, connect, create, make, parameters, refused},
    world::code,
};
use cosi_proto::v1alpha2::{
    AuthenticationType, DriverDeleteBucketRequest, DriverGrantBucketAccessRequest, ObjectProtocol,
    S3CredentialInfo, access_mode::Mode, authentication_type, object_protocol,
    provisioner_client::ProvisionerClient,
};
use cosi_sample_driver::store::{IdPrefix, Store};
use rstest::rstest;
use tokio::task::JoinSet;
use tonic::Code;

/// COSI-GRANT-1, COSI-GRANT-7, COSI-GRANT-8.
#[tokio::test]
async fn an_account_is_granted_used_kept_over_a_restart_and_revoked() {
    let place = Place::new();
    let driver = place.start(&["--id-prefix", "team-"]).await;
    let modes = [("team-bc-1", Mode::ReadWrite), ("team-bc-2", Mode::ReadOnly)];
    for name in ["bc-1", "bc-2"] {
        make(&driver, name, &[]).await;
    }
    let first = granted(&driver, "ba-1", &modes).await;
    let ids: BTreeSet<_> = first.buckets.iter().map(|bucket| bucket.bucket_id.as_str()).collect();
    assert_eq!(ids, ["team-bc-1", "team-bc-2"].into());
    let put = |s3: aws_sdk_s3::Client, bucket| async move {
        s3.put_object().bucket(bucket).key("key").send().await
    };
    put(user(&first), "team-bc-1").await.unwrap();
    assert_eq!(code(put(user(&first), "team-bc-2").await), "AccessDenied");
    drop(driver);

    // Another order is the same request.
    let driver = place.start(&[]).await;
    let again = granted(&driver, "ba-1", &[modes[1], modes[0]]).await;
    assert_eq!((again.account_id.as_str(), key(&again)), (first.account_id.as_str(), key(&first)));
    put(user(&again), "team-bc-1").await.unwrap();
    for _ in 0..2 {
        driver.rpc().await.driver_revoke_bucket_access(revoke(&first.account_id)).await.unwrap();
        assert_eq!(code(put(user(&again), "team-bc-1").await), "InvalidAccessKeyId");
    }
    assert_not_in_log(&place, &key(&first));
}

/// I7.
fn assert_not_in_log(place: &Place, key: &S3CredentialInfo) {
    let log = place.log();
    assert!(log.contains("DriverGrantBucketAccess"));
    assert!(!log.contains(&key.access_secret_key) && !log.contains(&key.access_key_id));
}

#[tokio::test]
async fn what_cannot_be_granted_is_refused_with_the_right_code_and_in_words() {
    let place = Place::new();
    let driver = place.start(&[]).await;
    let mut rpc = driver.rpc().await;
    make(&driver, "bc-1", &[]).await;
    let own = [("bc-1", Mode::ReadWrite)];
    granted(&driver, "ba-1", &own).await;
    let service_account = DriverGrantBucketAccessRequest {
        authentication_type: Some(AuthenticationType {
            r#type: authentication_type::Type::ServiceAccount.into(),
        }),
        service_account_name: "app".into(),
        ..grant("ba-2", &own)
    };
    let azure = Some(ObjectProtocol { r#type: object_protocol::Type::Azure.into() });
    let azure = DriverGrantBucketAccessRequest { protocol: azure, ..grant("ba-2", &own) };
    let typo =
        DriverGrantBucketAccessRequest { parameters: parameters(&[("tpyo", "1")]), ..grant("ba-2", &own) };
    let refusals = [
        (service_account, Code::InvalidArgument, "ServiceAccount isn't supported"),
        (azure, Code::InvalidArgument, "Azure"),
        (typo, Code::InvalidArgument, "tpyo"),
        (grant("ba-2", &[("Not/A_Name", Mode::ReadOnly)]), Code::InvalidArgument, "Not/A_Name"),
        (grant("ba-2", &[("absent", Mode::ReadOnly)]), Code::FailedPrecondition, "there is no bucket absent"),
        (grant("ba-1", &[("bc-1", Mode::ReadOnly)]), Code::AlreadyExists, "other buckets or access modes"),
        (grant("ba-1", &[("bc-2", Mode::ReadWrite)]), Code::AlreadyExists, "ba-1"),
    ];
    for (request, code, words) in refusals {
        refused(rpc.driver_grant_bucket_access(request).await, code, words);
    }
    // None of that made, or undoes, anything.
    for nothing in [undo("ba-1", &["bc-2"]), undo("ba-1", &[]), undo("ba-2", &["bc-1"])] {
        rpc.driver_revoke_bucket_access_by_name(nothing).await.unwrap();
    }
    for nothing in ["absent", "Not/A_Name", "../data", &"x".repeat(2048)] {
        rpc.driver_revoke_bucket_access(revoke(nothing)).await.unwrap();
    }
    drop(driver);
    assert_eq!(accounts(&place), ["ba-1"]);
}

/// Accounts on disk, while no driver runs.
fn accounts(place: &Place) -> Vec<String> {
    Store::open(&place.data(), IdPrefix::default()).unwrap().accounts().unwrap()
}

/// C6, COSI-REVOKE-3, COSI-REVNAME-4.
#[rstest]
#[case::by_id(true)]
#[case::by_name(false)]
#[tokio::test]
async fn an_account_can_be_revoked_when_its_bucket_is_gone(#[case] by_id: bool) {
    let place = Place::new();
    let driver = place.start(&[]).await;
    make(&driver, "bc-1", &[]).await;
    let answer = granted(&driver, "ba-1", &[("bc-1", Mode::ReadWrite)]).await;
    let mut rpc = driver.rpc().await;
    let delete = DriverDeleteBucketRequest { bucket_id: "bc-1".into(), ..Default::default() };
    rpc.driver_delete_bucket(delete).await.unwrap();
    if by_id {
        rpc.driver_revoke_bucket_access(revoke(&answer.account_id)).await.unwrap();
    } else {
        rpc.driver_revoke_bucket_access_by_name(undo("ba-1", &["bc-1"])).await.unwrap();
    }
    assert_eq!(code(user(&answer).get_object().bucket("bc-1").key("key").send().await), "InvalidAccessKeyId");
    drop(driver);
    assert_eq!(accounts(&place), Vec::<String>::new());
}

/// C8: made, and not yet said so.
#[tokio::test]
async fn a_slow_grant_has_made_its_account_before_it_answers_and_cannot_be_undone_meanwhile() {
    let place = Place::new();
    let driver = place.start(&["--grant-delay", "1h", "--log-level", "debug"]).await;
    make(&driver, "bc-1", &[]).await;
    let own = [("bc-1", Mode::ReadWrite)];
    let mut rpc = driver.rpc().await;
    let pending = tokio::spawn(async move { rpc.driver_grant_bucket_access(grant("ba-1", &own)).await });
    let give_up = Instant::now() + PATIENCE;
    while !place.log().contains("account is there") {
        assert!(Instant::now() < give_up, "{}", place.log());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut rpc = driver.rpc().await;
    let undone = rpc.driver_revoke_bucket_access_by_name(undo("ba-1", &["bc-1"])).await;
    refused(undone, Code::Aborted, "");
    refused(rpc.driver_revoke_bucket_access(revoke("ba-1")).await, Code::Aborted, "");
    assert!(!pending.is_finished());
    drop(driver);
    assert_eq!(accounts(&place), ["ba-1"]);
    let driver = place.start(&[]).await;
    let answer = granted(&driver, "ba-1", &own).await;
    user(&answer).put_object().bucket("bc-1").key("key").send().await.unwrap();
    driver.rpc().await.driver_revoke_bucket_access_by_name(undo("ba-1", &["bc-1"])).await.unwrap();
    drop(driver);
    assert_eq!(accounts(&place), Vec::<String>::new());
}

/// `None` when the driver died meanwhile.
async fn grant_and_revoke_every_second(socket: PathBuf, round: usize, n: usize) -> Option<()> {
    let mut rpc = ProvisionerClient::new(connect(&socket).await.ok()?);
    let name = format!("ba-{round}-{n}");
    let request = grant(&name, &[("bc-1", Mode::ReadWrite)]);
    let answer = rpc.driver_grant_bucket_access(request).await.ok()?.into_inner();
    if n.is_multiple_of(2) {
        rpc.driver_revoke_bucket_access(revoke(&answer.account_id)).await.ok()?;
    }
    Some(())
}

/// I1: whatever the driver was doing when it died, undoing every grant by name leaves no account.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_driver_killed_at_any_moment_loses_track_of_no_account() {
    let place = Place::new();
    let driver = place.start(&[]).await;
    driver.rpc().await.driver_create_bucket(create("bc-1", &[])).await.unwrap();
    drop(driver);
    for round in 0..12 {
        let driver = place.start(&[]).await;
        let mut calls: JoinSet<_> =
            (0..16).map(|n| grant_and_revoke_every_second(driver.socket.clone(), round, n)).collect();
        for _ in 0..round {
            let ended = tokio::time::timeout(PATIENCE, calls.join_next()).await;
            assert_eq!(ended.unwrap().unwrap().unwrap(), Some(()));
        }
        driver.signal("-KILL");
        drop(driver);
        calls.join_all().await;
    }
    println!("{} accounts were there", accounts(&place).len());
    let driver = place.start(&[]).await;
    let mut rpc = driver.rpc().await;
    for (round, n) in (0..12).flat_map(|round| (0..16).map(move |n| (round, n))) {
        let undo = undo(&format!("ba-{round}-{n}"), &["bc-1"]);
        rpc.driver_revoke_bucket_access_by_name(undo).await.unwrap();
    }
    drop(driver);
    assert_eq!(accounts(&place), Vec::<String>::new());
}

/// I7, also for requests that fail, and for those that the S3 server refuses.
#[tokio::test]
async fn no_credential_is_in_a_log_at_the_finest_level() {
    let place = Place::new();
    let driver = place.start(&["--log-level", "trace"]).await;
    make(&driver, "bc-1", &[]).await;
    let answer = granted(&driver, "ba-1", &[("bc-1", Mode::ReadOnly)]).await;
    assert!(user(&answer).put_object().bucket("bc-1").key("key").send().await.is_err());
    assert!(user(&answer).get_object().bucket("bc-1").key("absent").send().await.is_err());
    let mut rpc = driver.rpc().await;
    rpc.driver_grant_bucket_access(grant("ba-1", &[("bc-2", Mode::ReadOnly)])).await.unwrap_err();
    rpc.driver_revoke_bucket_access(revoke("ba-1")).await.unwrap();
    assert_not_in_log(&place, &key(&answer));
}
