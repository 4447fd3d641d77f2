//! The driver with the s3 backend as a process, before a real service with S3 and IAM APIs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::time::{Duration, Instant};

use aws_sdk_s3::{Client, primitives::ByteStream};
use common::{
    client,
    grants::{grant, granted, key, revoke, undo, user},
    place::{Driver, PATIENCE, Place, create, make, refused, s3},
    proxy,
    world::code,
};
use cosi_driver_sdk::{CreateBucketRequest, DriverInfo, NameLedger, Parameters, Protocol};
use cosi_proto::v1alpha2::{
    AuthenticationType, DriverCreateBucketRequest, DriverDeleteBucketByNameRequest,
    DriverDeleteBucketRequest, DriverGetExistingBucketRequest, DriverGrantBucketAccessRequest, S3BucketInfo,
    access_mode::Mode, authentication_type,
};
use cosi_tests::seaweed::{self, SECRET_KEY, Seaweed};
use rstest::rstest;
use tonic::Code;

async fn driver(place: &Place, endpoint: &str) -> Driver {
    place.start(&["--backend", "s3", "--s3-endpoint", endpoint, "--s3-path-style"]).await
}

fn delete(id: &str) -> DriverDeleteBucketRequest {
    DriverDeleteBucketRequest { bucket_id: id.into(), ..Default::default() }
}

fn undo_create(name: &str) -> DriverDeleteBucketByNameRequest {
    DriverDeleteBucketByNameRequest { name: name.into(), protocols: s3(), ..Default::default() }
}

async fn tags(seaweed: &Seaweed, bucket: &str) -> Vec<(String, String)> {
    match seaweed.s3().get_bucket_tagging().bucket(bucket).send().await {
        Ok(found) => found.tag_set.into_iter().map(|tag| (tag.key, tag.value)).collect(),
        Err(error) => {
            assert_eq!(code::<(), _>(Err(error)), "NoSuchTagSet");
            vec![]
        }
    }
}

async fn is_there(seaweed: &Seaweed, bucket: &str) -> bool {
    let buckets = seaweed.s3().list_buckets().send().await.unwrap().buckets.unwrap_or_default();
    buckets.iter().any(|found| found.name.as_deref() == Some(bucket))
}

async fn keys(seaweed: &Seaweed, user: &str) -> Vec<String> {
    let keys = seaweed.iam().list_access_keys().user_name(user).send().await.unwrap().access_key_metadata;
    keys.into_iter().filter_map(|key| key.access_key_id).collect()
}

async fn is_user(seaweed: &Seaweed, user: &str) -> bool {
    let users = seaweed.iam().list_users().send().await.unwrap().users;
    users.iter().any(|found| found.user_name == user)
}

/// What a client is answered, once the service has heard of its rights.
async fn put(client: &Client, bucket: &str, key: &str) -> Result<(), String> {
    let body = ByteStream::from_static(b"text");
    let answer = client.put_object().bucket(bucket).key(key).body(body).send().await;
    if answer.is_ok() { Ok(()) } else { Err(code(answer)) }
}

async fn get(client: &Client, bucket: &str, key: &str) -> Result<(), String> {
    let answer = client.get_object().bucket(bucket).key(key).send().await;
    if answer.is_ok() { Ok(()) } else { Err(code(answer)) }
}

async fn list(client: &Client, bucket: &str) -> Result<(), String> {
    let answer = client.list_objects_v2().bucket(bucket).send().await;
    if answer.is_ok() { Ok(()) } else { Err(code(answer)) }
}

fn denied() -> Result<(), String> {
    Err("AccessDenied".to_owned())
}

/// Rights and keys spread within the service: waits until a client is answered so.
async fn until(expected: Result<(), String>, answer: impl AsyncFn() -> Result<(), String>) {
    let give_up = Instant::now() + PATIENCE;
    loop {
        let answered = answer().await;
        if answered == expected {
            return;
        }
        assert!(Instant::now() < give_up, "still {answered:?}, not {expected:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// COSI-CREATE-1 to -3, COSI-DELETE-1, C14, C16, C39.
#[tokio::test]
async fn a_bucket_is_made_once_marked_used_and_deleted_when_it_is_empty() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: whole life of a bucket").await else { return };
    let place = Place::new();
    let driver = driver(&place, &seaweed.endpoint).await;
    let mut rpc = driver.rpc().await;
    let info = make(&driver, "bc-life", &[]).await;
    assert_eq!(info, make(&driver, "bc-life", &[]).await);
    let S3BucketInfo { bucket_id, endpoint, region, .. } = info;
    assert_eq!((bucket_id.as_str(), &endpoint, region.as_str()), ("bc-life", &seaweed.endpoint, "us-east-1"));
    let marks = tags(seaweed, "bc-life").await;
    assert!(
        marks.contains(&("cosi_driver".to_owned(), "sample.objectstorage.local".to_owned())),
        "{marks:?}"
    );
    assert_eq!(marks.len(), 3);

    let other = DriverCreateBucketRequest { protocols: vec![], ..create("bc-life", &[]) };
    refused(rpc.driver_create_bucket(other).await, Code::AlreadyExists, "other fields");
    let other = DriverDeleteBucketByNameRequest { protocols: vec![], ..undo_create("bc-life") };
    rpc.driver_delete_bucket_by_name(other).await.unwrap();
    assert!(is_there(seaweed, "bc-life").await);
    let existing = DriverGetExistingBucketRequest {
        existing_bucket_id: "bc-life".into(),
        protocols: s3(),
        ..Default::default()
    };
    rpc.driver_get_existing_bucket(existing.clone()).await.unwrap();

    put(&seaweed.s3(), "bc-life", "key").await.unwrap();
    refused(rpc.driver_delete_bucket(delete("bc-life")).await, Code::FailedPrecondition, "BucketNotEmpty");
    let undone = rpc.driver_delete_bucket_by_name(undo_create("bc-life")).await;
    refused(undone, Code::FailedPrecondition, "BucketNotEmpty");
    seaweed.s3().delete_object().bucket("bc-life").key("key").send().await.unwrap();
    rpc.driver_delete_bucket(delete("bc-life")).await.unwrap();
    assert!(!is_there(seaweed, "bc-life").await);

    rpc.driver_delete_bucket(delete("bc-life")).await.unwrap();
    rpc.driver_delete_bucket_by_name(undo_create("bc-life")).await.unwrap();
    refused(rpc.driver_get_existing_bucket(existing).await, Code::NotFound, "bc-life");
    let long = "x".repeat(64);
    refused(rpc.driver_create_bucket(create(&long, &[])).await, Code::InvalidArgument, "63");
    make(&driver, "bc-life", &[]).await;
    rpc.driver_delete_bucket_by_name(undo_create("bc-life")).await.unwrap();
    assert!(!is_there(seaweed, "bc-life").await);
}

/// I4.
#[tokio::test]
async fn a_bucket_that_somebody_else_made_is_refused_and_left_alone() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: foreign bucket").await else { return };
    let place = Place::new();
    let driver = driver(&place, &seaweed.endpoint).await;
    let mut rpc = driver.rpc().await;
    seaweed.s3().create_bucket().bucket("bc-foreign").send().await.unwrap();
    refused(
        rpc.driver_create_bucket(create("bc-foreign", &[])).await,
        Code::AlreadyExists,
        "not made by this driver",
    );
    rpc.driver_delete_bucket_by_name(undo_create("bc-foreign")).await.unwrap();
    assert!(is_there(seaweed, "bc-foreign").await);
    assert_eq!(tags(seaweed, "bc-foreign").await, []);

    // The same for one that another driver has marked: it has another name.
    drop(driver);
    let other = ["--driver-name", "other.example.com", "--ledger"];
    let ledger = place.data().join("other.redb");
    let other = [other.as_slice(), &[ledger.to_str().unwrap()]].concat();
    let flags = ["--backend", "s3", "--s3-endpoint", &seaweed.endpoint, "--s3-path-style"];
    let theirs = place.start(&[flags.as_slice(), &other].concat()).await;
    make(&theirs, "bc-theirs", &[]).await;
    drop(theirs);
    let driver = place.start(&flags).await;
    let mut rpc = driver.rpc().await;
    refused(rpc.driver_create_bucket(create("bc-theirs", &[])).await, Code::AlreadyExists, "bc-theirs");
    rpc.driver_delete_bucket_by_name(undo_create("bc-theirs")).await.unwrap();
    assert!(is_there(seaweed, "bc-theirs").await);
}

/// The window between two calls: made, and not yet marked. C1, I1.
#[rstest]
#[case::created_again("bc-crash-again", true)]
#[case::undone("bc-crash-undone", false)]
#[tokio::test]
async fn a_driver_killed_between_making_and_marking_a_bucket_finds_it_again(
    #[case] name: &str,
    #[case] repeated: bool,
) {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: killed before marking").await else { return };
    let place = Place::new();
    let service = seaweed.endpoint.strip_prefix("http://").unwrap();
    let (proxy, mut held) = proxy::holding_up(service, "tagging").await;
    let killed = driver(&place, &proxy).await;
    let mut rpc = killed.rpc().await;
    let request = create(name, &[]);
    let pending = tokio::spawn(async move { rpc.driver_create_bucket(request).await });
    tokio::time::timeout(PATIENCE, held.recv()).await.expect("the driver marks the bucket").unwrap();
    killed.signal("-KILL");
    drop(killed);
    pending.await.unwrap().unwrap_err();
    assert!(is_there(seaweed, name).await);
    assert_eq!(tags(seaweed, name).await, []);

    let driver = driver(&place, &seaweed.endpoint).await;
    if repeated {
        make(&driver, name, &[]).await;
        assert_eq!(tags(seaweed, name).await.len(), 3);
    }
    driver.rpc().await.driver_delete_bucket_by_name(undo_create(name)).await.unwrap();
    assert!(!is_there(seaweed, name).await);
}

/// As above, with an entry for another request: half-done work is finished by nobody else.
#[tokio::test]
async fn an_unmarked_bucket_is_adopted_only_by_the_request_that_the_ledger_has() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: ledger of another request").await else { return };
    let place = Place::new();
    std::fs::create_dir_all(place.data()).unwrap();
    let info = DriverInfo::new("sample.objectstorage.local", [Protocol::S3]).unwrap();
    let ledger = NameLedger::open(place.data().join("s3-ledger.redb"), &info).unwrap();
    let name = "bc-announced";
    let announced = CreateBucketRequest {
        name: name.parse().unwrap(),
        protocols: [].into(),
        parameters: Parameters::default(),
    };
    ledger.buckets().announce(name, &announced).await.unwrap();
    drop(ledger);
    seaweed.s3().create_bucket().bucket(name).send().await.unwrap();

    let driver = driver(&place, &seaweed.endpoint).await;
    let mut rpc = driver.rpc().await;
    refused(rpc.driver_create_bucket(create(name, &[])).await, Code::AlreadyExists, "other fields");
    rpc.driver_delete_bucket_by_name(undo_create(name)).await.unwrap();
    assert!(is_there(seaweed, name).await);
    let same = DriverCreateBucketRequest { protocols: vec![], ..create(name, &[]) };
    rpc.driver_create_bucket(same).await.unwrap();
    assert_eq!(tags(seaweed, name).await.len(), 3);
    rpc.driver_delete_bucket(delete(name)).await.unwrap();
}

/// C34, COSI-GRANT-5: asked of the service, not of the policy.
#[tokio::test]
async fn each_access_mode_is_enforced_on_its_bucket_and_on_no_other() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: access modes").await else { return };
    let place = Place::new();
    let driver = driver(&place, &seaweed.endpoint).await;
    for name in ["bc-modes", "bc-modes-2"] {
        make(&driver, name, &[]).await;
        put(&seaweed.s3(), name, "there").await.unwrap();
    }
    let mut clients = Vec::new();
    for (account, mode) in [("ba-rw", Mode::ReadWrite), ("ba-ro", Mode::ReadOnly), ("ba-wo", Mode::WriteOnly)]
    {
        clients.push(user(&granted(&driver, account, &[("bc-modes", mode)]).await));
    }
    let [both, reader, writer] = &clients[..] else { panic!() };
    until(Ok(()), async || put(both, "bc-modes", "key").await).await;
    until(Ok(()), async || get(reader, "bc-modes", "there").await).await;
    until(Ok(()), async || put(writer, "bc-modes", "key").await).await;
    assert_eq!((get(both, "bc-modes", "key").await, list(both, "bc-modes").await), (Ok(()), Ok(())));
    assert_eq!((list(reader, "bc-modes").await, put(reader, "bc-modes", "key").await), (Ok(()), denied()));
    assert_eq!((get(writer, "bc-modes", "key").await, list(writer, "bc-modes").await), (denied(), denied()));
    for client in &clients {
        assert_eq!(get(client, "bc-modes-2", "there").await, denied());
        assert_eq!(put(client, "bc-modes-2", "key").await, denied());
        assert_eq!(code(client.delete_bucket().bucket("bc-modes").send().await), "AccessDenied");
        assert_eq!(code(client.create_bucket().bucket("bc-modes-3").send().await), "AccessDenied");
    }

    // One account, two buckets, two modes.
    let two = [("bc-modes", Mode::ReadOnly), ("bc-modes-2", Mode::WriteOnly)];
    let two = user(&granted(&driver, "ba-two", &two).await);
    until(Ok(()), async || get(&two, "bc-modes", "there").await).await;
    until(Ok(()), async || put(&two, "bc-modes-2", "key").await).await;
    assert_eq!(
        (put(&two, "bc-modes", "key").await, get(&two, "bc-modes-2", "key").await),
        (denied(), denied())
    );
}

/// C37, C6, C16, I7.
#[tokio::test]
async fn a_repeated_grant_is_one_user_with_one_live_key_and_revoked_it_is_none() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: repeated grants").await else { return };
    let place = Place::new();
    let flags =
        ["--backend", "s3", "--s3-endpoint", &seaweed.endpoint, "--s3-path-style", "--log-level", "trace"];
    let driver = place.start(&flags).await;
    let mut rpc = driver.rpc().await;
    make(&driver, "bc-repeat", &[]).await;
    let modes = [("bc-repeat", Mode::ReadWrite)];
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(granted(&driver, "ba-repeat", &modes).await);
        assert_eq!(answers[answers.len() - 1].account_id, "ba-repeat");
    }
    let last = &answers[2];
    assert_eq!(keys(seaweed, "ba-repeat").await, [key(last).access_key_id]);
    until(Ok(()), async || put(&user(last), "bc-repeat", "key").await).await;
    for earlier in &answers[..2] {
        until(Err("InvalidAccessKeyId".to_owned()), async || get(&user(earlier), "bc-repeat", "key").await)
            .await;
    }

    let other = grant("ba-repeat", &[("bc-repeat", Mode::ReadOnly)]);
    refused(rpc.driver_grant_bucket_access(other).await, Code::AlreadyExists, "other fields");
    rpc.driver_revoke_bucket_access_by_name(undo("ba-repeat", &["bc-other"])).await.unwrap();
    assert!(is_user(seaweed, "ba-repeat").await);
    rpc.driver_revoke_bucket_access_by_name(undo("ba-repeat", &["bc-repeat"])).await.unwrap();
    assert!(!is_user(seaweed, "ba-repeat").await);
    until(Err("InvalidAccessKeyId".to_owned()), async || get(&user(last), "bc-repeat", "key").await).await;

    granted(&driver, "ba-repeat", &modes).await;
    for _ in 0..2 {
        rpc.driver_revoke_bucket_access(revoke("ba-repeat")).await.unwrap();
        assert!(!is_user(seaweed, "ba-repeat").await);
    }
    rpc.driver_revoke_bucket_access_by_name(undo("ba-repeat", &["bc-repeat"])).await.unwrap();
    let log = place.log();
    assert!(log.contains("DriverGrantBucketAccess") && !log.contains(SECRET_KEY));
    for answer in &answers {
        assert!(!log.contains(&key(answer).access_secret_key) && !log.contains(&key(answer).access_key_id));
    }
}

#[tokio::test]
async fn a_user_of_somebody_else_and_what_cannot_be_granted_are_refused_in_words() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: refused grants").await else { return };
    let place = Place::new();
    let driver = driver(&place, &seaweed.endpoint).await;
    let mut rpc = driver.rpc().await;
    make(&driver, "bc-refused", &[]).await;
    seaweed.iam().create_user().user_name("somebody").send().await.unwrap();
    seaweed.iam().create_access_key().user_name("somebody").send().await.unwrap();
    let modes = [("bc-refused", Mode::ReadWrite)];
    refused(rpc.driver_grant_bucket_access(grant("somebody", &modes)).await, Code::AlreadyExists, "somebody");
    rpc.driver_revoke_bucket_access_by_name(undo("somebody", &["bc-refused"])).await.unwrap();
    refused(rpc.driver_revoke_bucket_access(revoke("somebody")).await, Code::FailedPrecondition, "no mark");
    assert_eq!(keys(seaweed, "somebody").await.len(), 1);

    let service_account = DriverGrantBucketAccessRequest {
        authentication_type: Some(AuthenticationType {
            r#type: authentication_type::Type::ServiceAccount.into(),
        }),
        service_account_name: "app".into(),
        ..grant("ba-refused", &modes)
    };
    let answer = rpc.driver_grant_bucket_access(service_account).await;
    refused(answer, Code::InvalidArgument, "ServiceAccount isn't supported");
    let long = grant(&"u".repeat(65), &modes);
    refused(rpc.driver_grant_bucket_access(long).await, Code::InvalidArgument, "64");
    let absent = grant("ba-refused", &[("bc-absent", Mode::ReadOnly)]);
    refused(rpc.driver_grant_bucket_access(absent).await, Code::FailedPrecondition, "bc-absent");
    assert!(!is_user(seaweed, "ba-refused").await);
}

/// The driver's own credentials are wrong: no "absent", and nothing retried at once.
#[tokio::test]
async fn wrong_credentials_are_named_as_such_and_nothing_is_guessed() {
    let Some(seaweed) = seaweed::or_skip("seaweedfs: wrong credentials").await else { return };
    let place = Place::new();
    let user = "ba-powerless";
    seaweed.iam().create_user().user_name(user).send().await.unwrap();
    let made = seaweed.iam().create_access_key().user_name(user).send().await.unwrap().access_key.unwrap();
    until(denied(), async || {
        list(&client(&seaweed.endpoint, &made.access_key_id, &made.secret_access_key), "any").await
    })
    .await;
    let flags = ["--backend", "s3", "--s3-endpoint", &seaweed.endpoint, "--s3-path-style"];
    for (id, secret, expected) in [
        ("NOBODY", SECRET_KEY, Code::Unauthenticated),
        (seaweed::ACCESS_KEY, "wrong", Code::Unauthenticated),
        (&made.access_key_id, &made.secret_access_key, Code::PermissionDenied),
    ] {
        let driver =
            place.start_with(&flags, &[("AWS_ACCESS_KEY_ID", id), ("AWS_SECRET_ACCESS_KEY", secret)]).await;
        let mut rpc = driver.rpc().await;
        refused(rpc.driver_create_bucket(create("bc-denied", &[])).await, expected, "bc-denied");
        refused(rpc.driver_delete_bucket_by_name(undo_create("bc-denied")).await, expected, "bc-denied");
        refused(rpc.driver_delete_bucket(delete("bc-denied")).await, expected, "bc-denied");
    }
    assert!(!is_there(seaweed, "bc-denied").await);
}

/// I1, COSI-DELNAME-1: 1 000 creates race with 1 000 undos for the same names, in 50 lives of the driver, each killed after
/// another number of ended calls. In the end ledger, tags and service agree.
#[tokio::test(flavor = "multi_thread")]
async fn a_driver_killed_at_any_moment_loses_track_of_no_bucket() {
    const LIVES: usize = 50;
    const ROUNDS: usize = 20;
    let Some(seaweed) = seaweed::or_skip("seaweedfs: killed at any moment").await else { return };
    let place = Place::new();
    let name = |n: usize| format!("bc-race-{}", n % 10);
    for life in 0..LIVES {
        let driver = driver(&place, &seaweed.endpoint).await;
        let mut calls = tokio::task::JoinSet::new();
        for round in 0..ROUNDS {
            let (mut making, mut undoing) = (driver.rpc().await, driver.rpc().await);
            calls
                .spawn(async move { making.driver_create_bucket(create(&name(round), &[])).await.map(drop) });
            let undo = undo_create(&name(round));
            calls.spawn(async move { undoing.driver_delete_bucket_by_name(undo).await.map(drop) });
        }
        for _ in 0..life * 2 * ROUNDS / LIVES {
            expected(calls.join_next().await.unwrap().unwrap());
        }
        driver.signal("-KILL");
        while let Some(ended) = calls.join_next().await {
            expected(ended.unwrap());
        }
    }

    let last = driver(&place, &seaweed.endpoint).await;
    for n in 0..10 {
        if n % 2 == 0 {
            make(&last, &name(n), &[]).await;
        } else {
            last.rpc().await.driver_delete_bucket_by_name(undo_create(&name(n))).await.unwrap();
        }
    }
    for n in 0..10 {
        assert_eq!(is_there(seaweed, &name(n)).await, n % 2 == 0, "{}", name(n));
        if n % 2 == 0 {
            assert_eq!(tags(seaweed, &name(n)).await.len(), 3);
            last.rpc().await.driver_delete_bucket(delete(&name(n))).await.unwrap();
            assert!(!is_there(seaweed, &name(n)).await);
        }
    }
    last.signal("-TERM");
    assert!(last.ended().success());
    let info = DriverInfo::new("sample.objectstorage.local", [Protocol::S3]).unwrap();
    let ledger = NameLedger::open(place.data().join("s3-ledger.redb"), &info).unwrap();
    for n in 0..10 {
        assert!(ledger.buckets().find(name(n)).await.unwrap().is_none(), "{}", name(n));
    }
}

/// The driver died, or another call for the name runs.
fn expected(outcome: Result<(), tonic::Status>) {
    let Err(failure) = outcome else { return };
    let codes = [Code::Aborted, Code::Unavailable, Code::Unknown, Code::Cancelled];
    assert!(codes.contains(&failure.code()), "{failure:?}");
}
