//! An access that is deleted while its account is not known, or half made (C1, C2, C7, C8, C20, R10).

use cosi_sim::driver::{Abilities, Ids, On, Step};
use cosi_sim::proxy::{Action, Match};
use rstest::rstest;
use tonic::Code;

use super::start_with;
use crate::world::{AccessWish, GRACE, Setup, is_clean};

fn by_name(driver: &mut Abilities) {
    driver.ids = Ids::Derived("tenant-7/".to_owned());
}

fn no_by_name(driver: &mut Abilities) {
    driver.by_name = false;
}

fn opaque(driver: &mut Abilities) {
    driver.ids = Ids::Opaque;
}

fn opaque_no_by_name(driver: &mut Abilities) {
    opaque(driver);
    no_by_name(driver);
}

/// C8: deleted while the Grant runs or fails, in every way: the deletion finishes, and the account is gone.
#[rstest]
#[tokio::test]
async fn deleted_while_its_grant_is_pending_or_failing_an_access_leaves_no_account(
    #[values(by_name, no_by_name, opaque, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some((world, bucket)) = start_with(Setup::traced().driver(driver)).await else { return };
    let steps = [
        Step::hold(),
        Step::do_then_hold(),
        Step::do_then_hang(),
        Step::hang_then_land(std::time::Duration::from_millis(1300)),
        Step::fail(Code::Internal),
        Step::done_but(Code::Internal),
        Step::half_done(Code::Unavailable),
        Step::fail_then_land(Code::Internal, GRACE / 2),
        Step::fail_then_land(Code::Aborted, GRACE / 2),
        Step::done_but(Code::PermissionDenied),
    ];
    futures::future::join_all(steps.into_iter().map(async |step| {
        let access = world.plan_access(AccessWish::to(&bucket).await).await;
        let rule = world.driver.rule(On::grant().named(&access.account_name()).nth(1), step);
        access.hand_over().await;
        rule.wait_hit().await.unwrap();
        access.delete().await;
        rule.release();
        access.wait_clean().await;
        access.finish().await;
    }))
    .await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// C1: the status write fails after the Grant, and the access is deleted: its id is in memory.
#[tokio::test]
async fn an_access_whose_status_write_fails_is_revoked_by_its_id() {
    let Some((world, bucket)) = super::start().await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let status = Match::change("bucketaccesses/status").named(&access.name);
    let failing = world.proxy.rule(status, Action::status(500));
    access.hand_over().await;
    failing.wait_hits(2).await.unwrap();
    access.delete().await;
    failing.off();
    access.wait_clean().await;
    assert_eq!(world.driver.count(&On::grant()), 1, "R7: the driver is not asked again");
    assert_eq!(world.driver.count(&On::revoke()), 1);
    assert_eq!(world.driver.count(&On::revoke_by_name()), 0);
    access.finish().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// C2: no by-name RPC: the Grant is replayed for the id, which is then revoked.
#[tokio::test]
async fn without_the_by_name_rpc_a_grant_is_replayed_and_revoked() {
    let Some((world, bucket)) = start_with(Setup::traced().driver(opaque_no_by_name)).await else { return };
    let unknown = world.driver.rule(On::grant().nth(1), Step::done_but(Code::Internal));
    let access = world.access(AccessWish::to(&bucket).await).await;
    unknown.wait_hit().await.unwrap();
    access.delete().await;
    access.wait_clean().await;
    let calls = world.driver.calls(&On::any().named(&access.account_name()));
    let last: Vec<_> = calls.iter().rev().take(2).rev().map(|call| call.rpc).collect();
    assert_eq!(last, [cosi_sim::driver::Rpc::Grant, cosi_sim::driver::Rpc::Revoke], "{calls:?}");
    let grants = world.driver.calls(&On::grant());
    assert_eq!(grants[0].request, grants[grants.len() - 1].request, "R2: a replay is the same request");
    access.finish().await;
    world.end().await;
}

/// C2: a driver that learns the RPC is asked by it without a restart of the sidecar.
#[tokio::test]
async fn a_driver_that_learns_the_by_name_rpc_is_asked_by_it() {
    let Some((world, bucket)) = start_with(Setup::traced().driver(no_by_name)).await else { return };
    let unknown = world.driver.rule(On::grant().nth(1), Step::done_but(Code::Internal));
    let blocked = world.driver.rule(On::grant().from_nth(2), Step::fail(Code::PermissionDenied));
    let access = world.access(AccessWish::to(&bucket).await).await;
    unknown.wait_hit().await.unwrap();
    access.delete().await;
    blocked.wait_hits(2).await.unwrap();
    world.driver.set(|driver| driver.by_name = true);
    world.driver.restart().unwrap();
    access.wait_clean().await;
    access.finish().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// C6 for a replay: it looks at neither Buckets nor Secrets, which may be gone or somebody else's.
#[tokio::test]
async fn a_replay_looks_at_neither_buckets_nor_secrets() {
    let Some((world, bucket)) = start_with(Setup::traced().driver(no_by_name)).await else { return };
    let unknown = world.driver.rule(On::grant().nth(1), Step::done_but(Code::Internal));
    let access = world.access(AccessWish::to(&bucket).await).await;
    unknown.wait_hit().await.unwrap();
    bucket.annotate(cosi_api::names::BUCKETCLAIM_BEING_DELETED).await;
    access.delete().await;
    access.wait_clean().await;
    access.finish().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// C7, R10 e: what can't be granted can be deleted, with and without the by-name RPC, by the process that was refused and
/// by a later one.
#[rstest]
#[tokio::test]
async fn an_access_that_was_refused_for_good_can_be_deleted(
    #[values(true, false)] by_name: bool,
    #[values(true, false)] restart: bool,
    #[values(Code::InvalidArgument, Code::OutOfRange, Code::AlreadyExists, Code::Unimplemented)] code: Code,
) {
    let setup = Setup::traced().driver(|driver| driver.by_name = by_name);
    let Some((mut world, bucket)) = start_with(setup).await else { return };
    world.driver.rule(On::grant(), Step::fail(code));
    let access = world.access(AccessWish::to(&bucket).await).await;
    access.wait_event("Refused").await;
    if restart {
        world.restart_sidecar();
    }
    access.delete().await;
    access.wait_clean().await;
    if !by_name {
        let note = access.wait_event("LetGo").await.message.unwrap();
        for word in [&world.driver_name, &access.account_name()] {
            assert!(note.contains(word.as_str()), "R10 e: {word} is missing in {note}");
        }
    }
    access.finish().await;
    world.end().await;
}

/// R10 e: this process itself saw an unknown outcome, so a refused replay proves nothing (R14).
#[tokio::test]
async fn a_refused_replay_after_an_unknown_outcome_does_not_let_go() {
    let Some((world, bucket)) = start_with(Setup::traced().driver(no_by_name)).await else { return };
    let refused = world.driver.rule(On::grant().from_nth(2), Step::fail(Code::InvalidArgument));
    let unknown = world.driver.rule(On::grant().nth(1), Step::done_but(Code::Internal));
    let access = world.access(AccessWish::to(&bucket).await).await;
    unknown.wait_hit().await.unwrap();
    access.delete().await;
    access.wait_error("INVALID_ARGUMENT").await;
    access.wait_event("DeletionBlocked").await;
    assert!(!is_clean(&access.get().await.unwrap()), "let go");
    refused.off();
    access.wait_clean().await;
    access.finish().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// C20: one unknown outcome after the other on a deleting access; the OK at last is enough.
#[tokio::test]
async fn a_grant_that_succeeds_at_last_on_a_deleting_access_is_undone_without_a_restart() {
    let Some((world, bucket)) = start_with(Setup::traced().driver(no_by_name)).await else { return };
    let steps =
        [Code::Internal, Code::Unavailable, Code::DeadlineExceeded, Code::Unknown].map(Step::done_but);
    let unknown = world.driver.script(On::grant(), steps);
    let access = world.access(AccessWish::to(&bucket).await).await;
    unknown.wait_hit().await.unwrap();
    access.delete().await;
    access.wait_clean().await;
    assert_eq!(world.driver.count(&On::grant()), 5);
    assert_eq!(world.driver.count(&On::revoke()), 1);
    access.finish().await;
    world.end().await;
}

/// R3, R6: the Secrets of an access that a new process finds deleting go only after every call of its predecessor has
/// certainly ended; what the predecessor granted is undone all the same.
#[tokio::test]
async fn a_predecessors_account_is_revoked_though_its_secret_takes_long_to_go() {
    let Some((mut world, bucket)) = super::start().await else { return };
    let granted = world.driver.rule(On::grant(), Step::do_then_hold());
    let access = world.access(AccessWish::to(&bucket).await).await;
    granted.wait_hit().await.unwrap();
    let stuck = Match::delete("secrets").named(access.secret_name(0));
    let stuck = world.proxy.rule(stuck, Action::status(500));
    world.sidecar.kill();
    granted.release();
    access.delete().await;
    world.sidecar.start().unwrap();
    // Backoffs of at most 400 ms: with so many tries, a timeout and a grace are over.
    stuck.wait_hits(8).await.unwrap();
    stuck.off();
    access.wait_clean().await;
    access.finish().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}
