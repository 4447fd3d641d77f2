//! The oracles see what they are there to see.

use std::time::Duration;

use cosi_sim::driver::{Abilities, Busy, Ids, On, Step};
use tonic::Code;

use crate::support::{Client, start};

fn creating(client: &Client, name: &'static str) -> tokio::task::JoinHandle<Result<String, tonic::Status>> {
    let client = client.clone();
    tokio::spawn(async move { client.create(name).await })
}

#[tokio::test]
async fn two_overlapping_creates_at_a_racy_backend_make_two_buckets_and_both_oracles_say_so() {
    let racy = Abilities { ids: Ids::OpaqueRacy, busy: Busy::Overlap, ..Abilities::default() };
    let (driver, client) = start(racy);
    let rule = driver.rule(On::create(), Step::hold());
    let calls = [creating(&client, "b"), creating(&client, "b")];
    rule.wait_hits(2).await.unwrap();
    rule.release();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let ledger = driver.ledger();
    assert_eq!(driver.buckets().len(), 2);
    assert_eq!(ledger.most_in_flight("b"), 2);
    assert_eq!(ledger.one_call_at_a_time().unwrap_err().invariant, "I8");
    assert_eq!(ledger.no_double().unwrap_err().invariant, "I2");
    assert_eq!(driver.holds_exactly(&["b"]).unwrap_err().invariant, "I1");
}

#[tokio::test]
async fn overlapping_creates_of_different_names_are_fine() {
    let (driver, client) =
        start(Abilities { ids: Ids::OpaqueRacy, busy: Busy::Overlap, ..Abilities::default() });
    let rule = driver.rule(On::create(), Step::hold());
    let calls = [creating(&client, "a"), creating(&client, "b")];
    rule.wait_hits(2).await.unwrap();
    rule.release();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    driver.check(Duration::from_secs(10)).unwrap();
    driver.holds_exactly(&["a", "b"]).unwrap();
}

#[tokio::test]
async fn a_repeat_before_the_grace_is_over_breaks_r3_and_after_aborted_does_not() {
    for (code, kept) in [
        (Code::Internal, false),
        (Code::Unavailable, false),
        (Code::OutOfRange, false),
        (Code::Aborted, true),
        (Code::NotFound, true),
        (Code::InvalidArgument, true),
        (Code::FailedPrecondition, true),
    ] {
        let (driver, client) = start(Abilities::default());
        driver.rule(On::create().nth(1), Step::fail(code));
        client.create("b").await.unwrap_err();
        client.create("b").await.unwrap();
        assert_eq!(driver.check(Duration::from_secs(10)).is_ok(), kept, "{code:?}");
        driver.check(Duration::ZERO).unwrap();
    }
}

#[tokio::test]
async fn the_grace_after_a_timeout_counts_from_the_clients_deadline() {
    let (driver, client) = start(Abilities::default());
    driver.rule(On::create().nth(1), Step::hang());
    client.create_within("b", Duration::from_millis(50)).await.unwrap_err();
    client.delete_by_name("b").await.unwrap();
    let violation = driver.check(Duration::from_secs(10)).unwrap_err();
    assert_eq!(violation.invariant, "R3");
    driver.check(Duration::ZERO).unwrap();
}

#[tokio::test]
async fn a_create_after_an_acknowledged_delete_breaks_i2_even_if_it_is_refused() {
    let (driver, client) = start(Abilities::default());
    client.create("b").await.unwrap();
    client.delete("b").await.unwrap();
    driver.check(Duration::ZERO).unwrap();
    driver.rule(On::create(), Step::fail(Code::InvalidArgument));
    client.create("b").await.unwrap_err();
    let ledger = driver.ledger();
    assert_eq!(ledger.creates_after_delete("b").len(), 1);
    assert_eq!(ledger.no_double().unwrap_err().invariant, "I2");
}

#[tokio::test]
async fn a_foreign_bucket_deleted_breaks_i4() {
    let (driver, client) = start(Abilities::default());
    driver.add_foreign("theirs");
    client.delete("theirs").await.unwrap();
    assert_eq!(driver.check(Duration::ZERO).unwrap_err().invariant, "I4");
}

#[tokio::test]
async fn a_violation_tells_the_story_of_that_name_only() {
    let (driver, client) = start(Abilities::default());
    client.create("innocent").await.unwrap();
    driver.rule(On::create().named("b").nth(1), Step::done_but(Code::Internal).message("backend is on fire"));
    client.create("b").await.unwrap_err();
    client.create("b").await.unwrap();
    let report = format!("{:?}", driver.check(Duration::from_secs(10)).unwrap_err());
    for part in ["R3 is broken", "#1 Create name=b", "Made", "answered Internal backend is on fire"] {
        assert!(report.contains(part), "{part} is missing in:\n{report}");
    }
    assert!(!report.contains("innocent"), "{report}");
}
