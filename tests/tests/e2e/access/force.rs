//! An access that goes by force, and one that is made again under its name (R12).

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::{Action, Match};
use rstest::rstest;
use serde_json::json;
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, TestAccess, World, eventually};

/// The same wish under the same name, and the same Secret.
async fn again(world: &World, access: &TestAccess) -> TestAccess {
    let wish = access.wish.clone().metadata("name", access.name.clone().into());
    world.access(wish).await
}

async fn no_secrets(access: &TestAccess) {
    eventually("the Secrets of an access that is gone to be released", async || {
        // Without a garbage collector they stay; what keeps one from collecting them is our finalizer.
        match access.finalized_secrets().await {
            held if held.is_empty() => Ok(()),
            held => Err(format!("{held:?}")),
        }
    })
    .await;
}

/// Gone while the Grant runs, fails, or is recorded: the account goes, too, and the Secret is released.
#[rstest]
#[case::running(Step::hold())]
#[case::done(Step::do_then_hold())]
#[case::failed(Step::done_but(Code::Internal))]
#[case::half_done(Step::half_done(Code::PermissionDenied))]
#[tokio::test]
async fn an_access_taken_by_force_while_its_account_may_be_there_leaves_none(#[case] step: Step) {
    for by_name in [true, false] {
        let setup = Setup::traced().driver(|driver| driver.by_name = by_name);
        let Some((world, bucket)) = start_with(setup).await else { return };
        let access = world.plan_access(AccessWish::to(&bucket).await).await;
        let rule = world.driver.rule(On::grant().nth(1), step.clone());
        access.hand_over().await;
        rule.wait_hit().await.unwrap();
        access.remove_by_force().await;
        rule.release();
        world.driver.wait_calls(&On::grant(), 1).await.unwrap();
        eventually("no account", async || {
            let undone = On::revoke_by_name().named(&access.account_name());
            let called = world.driver.count(&undone) + world.driver.count(&On::revoke());
            if called > 0 && world.driver.accounts().is_empty() { Ok(()) } else { Err(String::new()) }
        })
        .await;
        no_secrets(&access).await;
        access.wait_event("OwnerGone").await;
        world.end().await;
    }
}

/// Gone after the Grant and before the status is written.
#[tokio::test]
async fn an_access_taken_by_force_before_its_status_is_written_leaves_no_account() {
    let Some((world, bucket)) = start().await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let gone = {
        let access = access.clone();
        move |_| {
            let access = access.clone();
            async move { access.remove_by_force().await }
        }
    };
    let status = Match::change("bucketaccesses/status").named(&access.name).nth(1);
    world.proxy.rule(status, Action::forward().before(gone));
    access.hand_over().await;
    world.driver.wait_calls(&On::revoke(), 1).await.unwrap();
    world.driver.wait_grants(&[]).await.unwrap();
    no_secrets(&access).await;
    world.end().await;
}

/// While Ready nothing can be made good: the account is not recorded any more. It is reported.
#[tokio::test]
async fn an_access_taken_by_force_while_ready_is_reported() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    world.may_leave_account(&access);
    // Without a finalizer, and before the sidecar can put it back.
    world.proxy.stall_watches("bucketaccesses");
    access.patch(&json!({ "metadata": { "finalizers": null } })).await;
    access.delete().await;
    world.proxy.resume_watches("bucketaccesses");
    let note = access.wait_event("OwnerGone").await.message.unwrap();
    for word in [&world.driver_name, &access.account_name()] {
        assert!(note.contains(word.as_str()), "R12: {word} is missing in {note}");
    }
    no_secrets(&access).await;
    assert_eq!(world.driver.count(&On::revoke()), 0, "I3: nobody deleted it the regular way");
    world.end().await;
}

/// Deleted the regular way, and then taken by force in the middle of it: what the user wanted is done all the same.
#[tokio::test]
async fn an_access_taken_by_force_while_it_is_deleted_is_revoked() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let held = world.driver.rule(On::revoke().nth(1), Step::fail(Code::Unavailable));
    access.delete().await;
    held.wait_hit().await.unwrap();
    access.remove_by_force().await;
    world.driver.wait_grants(&[]).await.unwrap();
    no_secrets(&access).await;
    world.end().await;
}

/// Deleted and made again under the same name at once, the regular way: another UID is another account.
#[tokio::test]
async fn an_access_made_again_at_once_is_another_account() {
    let Some((world, bucket)) = start().await else { return };
    let mut access = ready(&world, &bucket).await;
    for _ in 0..5 {
        access.delete().await;
        access.wait_clean().await;
        access.finish().await;
        let next = again(&world, &access).await;
        next.wait_ready().await;
        world.driver.grants_exactly(&[&next.account_name()]).unwrap();
        access = next;
    }
    access.go().await;
    world.end().await;
}

/// The same by force, while the first one's Grant is running: its rest goes, the second one is Ready, and the Secret is the
/// second one's.
#[rstest]
#[tokio::test]
async fn an_access_made_again_by_force_does_not_inherit_the_first_ones_account(
    #[values(true, false)] by_name: bool,
) {
    let setup = Setup::traced().driver(|driver| driver.by_name = by_name).recheck(crate::codes::NEVER);
    let Some((world, bucket)) = start_with(setup).await else { return };
    let first = world.plan_access(AccessWish::to(&bucket).await).await;
    let held = world.driver.rule(On::grant().named(&first.account_name()), Step::do_then_hold());
    first.hand_over().await;
    held.wait_hit().await.unwrap();
    first.remove_by_force().await;
    let second = again(&world, &first).await;
    held.release();
    // The garbage collector's part: the first one's Secret goes as soon as its finalizer does.
    first.collect_secrets().await;
    second.wait_ready().await;
    world.driver.wait_grants(&[&second.account_name()]).await.unwrap();
    second.go().await;
    world.end().await;
}
