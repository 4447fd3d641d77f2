//! The examples are whole drivers: each lives a life by gRPC, and bad input leaves nothing half-made in them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;
#[allow(dead_code, reason = "an example is a program of its own")]
#[path = "../examples/folders.rs"]
mod folders;
#[allow(dead_code, reason = "an example is a program of its own")]
#[path = "../examples/minimal.rs"]
mod minimal;
#[allow(dead_code, reason = "an example is a program of its own")]
#[path = "../examples/opaque_ids.rs"]
mod opaque_ids;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::fuzz::{Requests, bucket_that_is_there, call_all, requests};
use common::shop::quick_folder;
use common::*;
use cosi_driver_sdk::{DriverInfo, Protocol};
use cosi_proto::v1alpha2 as proto;
use folders::Folders;
use minimal::Minimal;
use opaque_ids::OpaqueIds;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use proto::provisioner_client::ProvisionerClient;
use rstest::rstest;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tonic::transport::Channel;
use tonic::{Code, Status};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Minimal,
    Folders,
    OpaqueIds,
}

/// One of the examples, running.
struct Example {
    kind: Kind,
    minimal: Minimal,
    data: TempDir,
    served: Served,
}

impl Example {
    async fn start(kind: Kind) -> Self {
        let (minimal, data) = (Minimal::default(), quick_folder());
        let served = serve(kind, &minimal, data.path()).await;
        Self { kind, minimal, data, served }
    }

    /// As after a stop: what is only in memory is gone, but with `Minimal`, which has nothing else.
    async fn restarted(mut self) -> Self {
        self.served.tell_to_stop();
        self.served.ended().await.unwrap();
        self.served = serve(self.kind, &self.minimal, self.data.path()).await;
        self
    }

    async fn client(&self) -> ProvisionerClient<Channel> {
        self.served.client().await
    }

    /// How many buckets and accounts are there, half-made ones included.
    fn holds(&self) -> (usize, usize) {
        let data = self.data.path();
        match self.kind {
            Kind::Minimal => {
                let backend = self.minimal.backend();
                (backend.buckets.len(), backend.accounts.len())
            }
            Kind::Folders => {
                let count = |kind: &str| {
                    ["", "drafts", "waste"]
                        .iter()
                        .map(|place| files(&data.join(place).join(kind)).count())
                        .sum()
                };
                (count("buckets"), count("accounts"))
            }
            Kind::OpaqueIds => {
                let count = |kind: &str| files(&data.join(kind)).count();
                (count("buckets") + count("drafts"), count("accounts"))
            }
        }
    }
}

async fn serve(kind: Kind, minimal: &Minimal, data: &Path) -> Served {
    match kind {
        Kind::Minimal => Served::start(minimal.clone()).await,
        Kind::Folders => {
            let info = DriverInfo::new("folders.example.com", [Protocol::S3]).unwrap();
            Served::start(Folders { info, data: data.to_owned() }).await
        }
        Kind::OpaqueIds => Served::start(OpaqueIds::open(data).unwrap()).await,
    }
}

fn files(folder: &Path) -> impl Iterator<Item = String> {
    fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().file_name().into_string().unwrap())
}

fn with_code<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code) -> String {
    let failure = answer.unwrap_err();
    assert_eq!(failure.code(), code, "{failure}");
    failure.message().to_owned()
}

/// COSI-CREATE-1, -3, -5, COSI-DELNAME-1, -3, COSI-DELETE-1.
async fn a_buckets_life(mut example: Example) -> Example {
    let mut client = example.client().await;
    let request = create_request("bc-1");
    let other = proto::DriverCreateBucketRequest { protocols: vec![], ..request.clone() };
    let id = client.driver_create_bucket(request.clone()).await.unwrap().into_inner().bucket_id;
    with_code(client.driver_create_bucket(other.clone()).await, Code::AlreadyExists);
    example = example.restarted().await;
    client = example.client().await;
    assert_eq!(client.driver_create_bucket(request.clone()).await.unwrap().into_inner().bucket_id, id);
    let mut typo = create_request("bc-2");
    typo.parameters.insert("tpyo".into(), "canary".into());
    let message = with_code(client.driver_create_bucket(typo).await, Code::InvalidArgument);
    assert!(message.contains("tpyo") && !message.contains("canary"), "{message}");
    client.driver_delete_bucket_by_name(undo_of(other)).await.unwrap();
    assert_eq!(example.holds(), (1, 0));
    for _ in 0..2 {
        client.driver_delete_bucket_by_name(undo_of(request.clone())).await.unwrap();
        assert_eq!(example.holds(), (0, 0));
    }
    let id = client.driver_create_bucket(request).await.unwrap().into_inner().bucket_id;
    for _ in 0..2 {
        client.driver_delete_bucket(delete_request(&id)).await.unwrap();
        assert_eq!(example.holds(), (0, 0));
    }
    example
}

fn undo_of(create: proto::DriverCreateBucketRequest) -> proto::DriverDeleteBucketByNameRequest {
    let proto::DriverCreateBucketRequest { name, protocols, parameters } = create;
    proto::DriverDeleteBucketByNameRequest { name, protocols, parameters }
}

/// COSI-GRANT-1, -2, -3, COSI-REVNAME-1, -3, COSI-REVOKE-1, -3.
async fn an_accounts_life(mut example: Example) {
    let mut client = example.client().await;
    let id = client.driver_create_bucket(create_request("bc-1")).await.unwrap().into_inner().bucket_id;
    let request = grant_request("ba-1", &[&id]);
    let granted = client.driver_grant_bucket_access(request.clone()).await.unwrap().into_inner();
    example = example.restarted().await;
    client = example.client().await;
    let again = client.driver_grant_bucket_access(request.clone()).await.unwrap().into_inner();
    assert!(granted == again, "another account or other keys");
    let mut other = request.clone();
    other.buckets[0].access_mode =
        Some(proto::AccessMode { mode: proto::access_mode::Mode::ReadOnly.into() });
    with_code(client.driver_grant_bucket_access(other).await, Code::AlreadyExists);
    client.driver_delete_bucket(delete_request(&id)).await.unwrap();
    client.driver_revoke_bucket_access_by_name(revoke_by_name_of(&request, &["elsewhere"])).await.unwrap();
    assert_eq!(example.holds(), (0, 1));
    for _ in 0..2 {
        client.driver_revoke_bucket_access_by_name(revoke_by_name_of(&request, &[&id])).await.unwrap();
        assert_eq!(example.holds(), (0, 0));
    }
    let id = client.driver_create_bucket(create_request("bc-1")).await.unwrap().into_inner().bucket_id;
    let granted =
        client.driver_grant_bucket_access(grant_request("ba-1", &[&id])).await.unwrap().into_inner();
    assert!(granted.credentials != again.credentials, "a revoked key lives again");
    for _ in 0..2 {
        client.driver_revoke_bucket_access(revoke_request(&granted.account_id)).await.unwrap();
    }
    assert_eq!(example.holds(), (1, 0));
}

fn revoke_by_name_of(
    grant: &proto::DriverGrantBucketAccessRequest,
    buckets: &[&str],
) -> proto::DriverRevokeBucketAccessByNameRequest {
    let bucket = |id: &&str| proto::driver_revoke_bucket_access_by_name_request::AccessedBucket {
        bucket_id: (*id).to_owned(),
    };
    let buckets = buckets.iter().map(bucket).collect();
    proto::DriverRevokeBucketAccessByNameRequest { buckets, ..revoke_by_name_request(&grant.account_name) }
}

#[rstest]
#[tokio::test]
async fn an_example_lives_a_whole_life_over_restarts(
    #[values(Kind::Minimal, Kind::Folders, Kind::OpaqueIds)] kind: Kind,
) {
    an_accounts_life(a_buckets_life(Example::start(kind).await).await).await;
}

/// COSI-EXISTING-1, COSI-EXISTING-2: nothing is made by looking.
#[rstest]
#[tokio::test]
async fn a_bucket_that_is_there_is_found_and_none_is_made_by_looking(
    #[values(Kind::Minimal, Kind::Folders)] kind: Kind,
) {
    let example = Example::start(kind).await;
    let mut client = example.client().await;
    let existing = |id: &str| proto::DriverGetExistingBucketRequest {
        existing_bucket_id: id.to_owned(),
        ..Default::default()
    };
    for id in ["bc-1", "../buckets", ".", "/etc"] {
        with_code(client.driver_get_existing_bucket(existing(id)).await, Code::NotFound);
        client.driver_delete_bucket(delete_request(id)).await.unwrap();
    }
    assert_eq!(example.holds(), (0, 0));
    client.driver_create_bucket(create_request("bc-1")).await.unwrap();
    let found = client.driver_get_existing_bucket(existing("bc-1")).await.unwrap().into_inner();
    assert_eq!((found.bucket_id.as_str(), found.protocols.unwrap().s3.is_some()), ("bc-1", true));
}

/// C14, COSI-DELETE-3, COSI-DELNAME-6.
#[tokio::test]
async fn folders_keeps_a_bucket_with_objects_in_it_until_it_is_empty() {
    let example = Example::start(Kind::Folders).await;
    let mut client = example.client().await;
    client.driver_create_bucket(create_request("bc-1")).await.unwrap();
    let object = example.data.path().join("buckets/bc-1/objects/precious");
    fs::write(&object, "").unwrap();
    with_code(client.driver_delete_bucket(delete_request("bc-1")).await, Code::FailedPrecondition);
    let undo = || undo_of(create_request("bc-1"));
    with_code(client.driver_delete_bucket_by_name(undo()).await, Code::FailedPrecondition);
    // A folder that can't be listed is not empty (COSI-GEN-7).
    let (objects, aside) = (object.parent().unwrap(), example.data.path().join("aside"));
    fs::rename(objects, &aside).unwrap();
    fs::write(objects, "").unwrap();
    with_code(client.driver_delete_bucket(delete_request("bc-1")).await, Code::Internal);
    fs::remove_file(objects).unwrap();
    fs::rename(&aside, objects).unwrap();
    fs::remove_file(&object).unwrap();
    client.driver_delete_bucket_by_name(undo()).await.unwrap();
    assert_eq!(example.holds(), (0, 0));
}

/// C7, COSI-DELETE-5, COSI-DELNAME-7, COSI-REVOKE-4, COSI-REVNAME-6: a typo in a class blocks no deletion.
#[rstest]
#[tokio::test]
async fn parameters_that_the_driver_does_not_know_keep_nothing_from_going(
    #[values(Kind::Minimal, Kind::Folders, Kind::OpaqueIds)] kind: Kind,
) {
    let example = Example::start(kind).await;
    let mut client = example.client().await;
    let typo: BTreeMap<String, String> = [("tpyo".to_owned(), "1".to_owned())].into();
    let id = client.driver_create_bucket(create_request("bc-1")).await.unwrap().into_inner().bucket_id;
    let grant = grant_request("ba-1", &[&id]);
    let account = client.driver_grant_bucket_access(grant.clone()).await.unwrap().into_inner().account_id;
    // By name: no create or grant with these fields made anything.
    let create = proto::DriverCreateBucketRequest { parameters: typo.clone(), ..create_request("bc-1") };
    client.driver_delete_bucket_by_name(undo_of(create)).await.unwrap();
    let by_name = revoke_by_name_of(&grant, &[&id]);
    let by_name = proto::DriverRevokeBucketAccessByNameRequest { parameters: typo.clone(), ..by_name };
    client.driver_revoke_bucket_access_by_name(by_name).await.unwrap();
    assert_eq!(example.holds(), (1, 1));
    let revoke =
        proto::DriverRevokeBucketAccessRequest { parameters: typo.clone(), ..revoke_request(&account) };
    client.driver_revoke_bucket_access(revoke).await.unwrap();
    let delete = proto::DriverDeleteBucketRequest { parameters: typo, ..delete_request(&id) };
    client.driver_delete_bucket(delete).await.unwrap();
    assert_eq!(example.holds(), (0, 0));
}

/// C39, COSI-CREATE-6, COSI-GRANT-11.
#[rstest]
#[tokio::test]
async fn the_longest_names_are_taken_whole_and_stay_apart(
    #[values(Kind::Minimal, Kind::Folders, Kind::OpaqueIds)] kind: Kind,
) {
    let example = Example::start(kind).await;
    let mut client = example.client().await;
    let names = ["a", "b"].map(|last| format!("{}{last}", "x".repeat(252)));
    let mut ids = Vec::new();
    for name in &names {
        ids.push(client.driver_create_bucket(create_request(name)).await.unwrap().into_inner().bucket_id);
        client.driver_grant_bucket_access(grant_request(name, &[&ids[0]])).await.unwrap();
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(example.holds(), (2, 2));
    let revoke = revoke_by_name_of(&grant_request(&names[0], &[]), &[&ids[0]]);
    client.driver_revoke_bucket_access_by_name(revoke).await.unwrap();
    client.driver_delete_bucket_by_name(undo_of(create_request(&names[0]))).await.unwrap();
    assert_eq!(example.holds(), (1, 1));
}

/// COSI-DELNAME-1, COSI-DELNAME-2: ABORTED or done, and nothing is left after one more undo.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_create_beside_its_undo_leave_nothing_after_one_more_undo(
    #[values(Kind::Minimal, Kind::Folders, Kind::OpaqueIds)] kind: Kind,
) {
    let example = Example::start(kind).await;
    let client = example.client().await;
    for _ in 0..100 {
        let (mut creator, mut undoer) = (client.clone(), client.clone());
        let create = tokio::spawn(async move { creator.driver_create_bucket(create_request("bc-1")).await });
        let undo = tokio::spawn(async move {
            undoer.driver_delete_bucket_by_name(undo_of(create_request("bc-1"))).await
        });
        for outcome in [create.await.unwrap().map(drop), undo.await.unwrap().map(drop)] {
            assert!(
                outcome.as_ref().map_or_else(|error| error.code() == Code::Aborted, |()| true),
                "{outcome:?}"
            );
        }
    }
    client.clone().driver_delete_bucket_by_name(undo_of(create_request("bc-1"))).await.unwrap();
    assert_eq!(example.holds(), (0, 0));
}

/// What may be answered to anything (COSI-ERR-2 to COSI-ERR-12); ABORTED would be a name that is not given back.
fn is_of_the_table(failure: &Status) -> TestCaseResult {
    let known = [
        Code::InvalidArgument,
        Code::AlreadyExists,
        Code::FailedPrecondition,
        Code::NotFound,
        Code::Unimplemented,
    ];
    prop_assert!(known.contains(&failure.code()), "{failure:?}");
    prop_assert!(!failure.message().is_empty() && failure.details().is_empty());
    prop_assert!(!failure.message().contains("panicked"), "{failure:?}");
    Ok(())
}

/// A refused call left nothing, a good one left one thing, and its undo nothing.
async fn leaves_nothing_half_made(example: &Example, case: &Requests) -> TestCaseResult {
    let mut client = example.client().await;
    let made = client.driver_create_bucket(case.sent(case.create())).await;
    prop_assert_eq!(example.holds(), (usize::from(made.is_ok()), 0));
    let undone = client.driver_delete_bucket_by_name(case.delete_by_name()).await;
    prop_assert!(made.is_err() || undone.is_ok(), "{undone:?}");
    prop_assert_eq!(example.holds(), (0, 0));
    client.driver_create_bucket(bucket_that_is_there()).await.unwrap();
    let granted = client.driver_grant_bucket_access(case.sent(case.grant())).await;
    prop_assert_eq!(example.holds(), (1, usize::from(granted.is_ok())));
    let revoked = client.driver_revoke_bucket_access_by_name(case.revoke_by_name()).await;
    prop_assert!(granted.is_err() || revoked.is_ok(), "{revoked:?}");
    prop_assert_eq!(example.holds(), (1, 0));
    let failures = [made.err(), undone.err(), granted.err(), revoked.err()];
    for failure in failures.into_iter().flatten().chain(call_all(case, &mut client).await) {
        is_of_the_table(&failure)?;
    }
    // Whatever the rest of the case did: there is a way to nothing.
    for undo in [undo_of(case.create()), undo_of(bucket_that_is_there())] {
        let _ = client.driver_delete_bucket_by_name(undo).await;
    }
    let _ = client.driver_revoke_bucket_access_by_name(case.revoke_by_name()).await;
    prop_assert_eq!(example.holds(), (0, 0));
    Ok(())
}

/// C30.
#[rstest]
fn whatever_is_asked_the_answer_is_of_the_table_and_nothing_half_made_is_left(
    #[values(Kind::Minimal, Kind::Folders, Kind::OpaqueIds)] kind: Kind,
) {
    let runtime = Runtime::new().unwrap();
    let example = runtime.block_on(Example::start(kind));
    // Each case finds what the one before left: a failing one is not shrunk, it would be blamed for the others.
    let config = Config { cases: 200, failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let mut runner = TestRunner::new(config);
    runner.run(&requests(), |case| runtime.block_on(leaves_nothing_half_made(&example, &case))).unwrap();
}
