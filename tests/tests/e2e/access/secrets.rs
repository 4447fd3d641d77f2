//! The Secrets of an access while nobody else wants their names: lost, emptied, edited, and written each by itself.

use cosi_sim::driver::{Ids, Keys, On, Step};
use cosi_sim::proxy::{Action, Match, Request};
use rstest::rstest;
use serde_json::json;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, TestAccess, World, is_ready};

/// C32: a Secret of a Ready access is lost, deleted, or emptied of a required key: not Ready first, then the same account
/// is granted again, and every Secret is rewritten in place – with a driver that voids the old key, too.
#[rstest]
#[tokio::test]
async fn a_secret_that_vanished_is_filled_again_for_the_same_account(
    #[values("lost", "deleted", "emptied", "wiped")] how: &str,
    #[values(Keys::Same, Keys::Rotating)] keys: Keys,
) {
    let setup = Setup::traced().driver(|driver| (driver.keys, driver.ids) = (keys, Ids::Opaque));
    let Some((world, first)) = start_with(setup).await else { return };
    let second = world.bucket().await;
    let access = world.access(AccessWish::to(&first).await.and(&second, "ReadOnly").await).await;
    let account = access.wait_ready().await;
    let other = access.secret(1).await.unwrap().metadata.uid;
    let granting = world.driver.rule(On::grant(), Step::hold());
    match how {
        "lost" => access.lose_secret(0).await,
        "deleted" => access.delete_secret(0).await,
        "emptied" => access.patch_secret(0, &json!({ "stringData": { "COSI_S3_ACCESS_KEY_ID": "" } })).await,
        _ => access.patch_secret(0, &json!({ "data": null })).await,
    }
    granting.wait_hit().await.unwrap();
    assert!(!is_ready(&access.get().await.unwrap()), "I5: not Ready before the Grant");
    granting.release();
    assert_eq!(access.wait_ready().await, account, "C32: the same account");
    assert_eq!(world.driver.count(&On::grant()), 2);
    assert_eq!(access.secret(1).await.unwrap().metadata.uid, other, "C32: rewritten in place");
    access.go().await;
    world.end().await;
}

/// Values edited by hand are the user's business: they are neither compared nor overwritten.
#[tokio::test]
async fn values_edited_by_hand_are_left_as_they_are() {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let edited = json!({ "stringData": { "COSI_S3_REGION": "elsewhere", "NOTE": "mine" } });
    access.patch_secret(0, &edited).await;
    access.patch(&json!({ "metadata": { "labels": { "looked": "at" } } })).await;
    // When this later one is through, so is what came before.
    ready(&world, &bucket).await.go().await;
    let now = access.credentials(0).await;
    assert_eq!((now["COSI_S3_REGION"].as_str(), now["NOTE"].as_str()), ("elsewhere", "mine"));
    assert_eq!(world.driver.count(&On::grant().named(&access.account_name())), 1);
    access.go().await;
    world.end().await;
}

/// Two entries, one Secret name (C31): refused for good, nothing is made and nobody called.
#[tokio::test]
async fn two_entries_with_one_secret_name_are_refused() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let wish = AccessWish::to(&first).await.entry(|entry| entry.secret = "shared".into());
    let wish = wish.and(&second, "ReadOnly").await.entry(|entry| entry.secret = "shared".into());
    let access = world.access(wish).await;
    access.wait_error("shared").await;
    access.wait_event("Refused").await;
    assert!(access.secret(0).await.is_none());
    access.go().await;
    assert_eq!(world.driver.count(&On::any().named(&access.account_name())), 0);
    world.end().await;
}

/// A user who takes a Secret away at any moment before the access is Ready: it is Ready in the end, with credentials that
/// work in every Secret.
#[rstest]
#[tokio::test]
async fn a_secret_lost_on_the_way_is_made_again(
    #[values("while granting", "before it is filled", "after it is filled")] when: &str,
    #[values(true, false)] by_force: bool,
) {
    let Some((world, bucket)) = start().await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let take = {
        let access = access.clone();
        move || {
            let access = access.clone();
            async move { if by_force { access.lose_secret(0).await } else { access.delete_secret(0).await } }
        }
    };
    at(&world, &access, when, take);
    access.hand_over().await;
    if when == "after it is filled" {
        // Nobody watches Secrets: it is missed when the access is looked at again, at the latest at the re-check.
        world.driver.wait_calls(&On::grant(), 2).await.unwrap();
    }
    access.wait_ready().await;
    assert_eq!(world.driver.accounts().len(), 1);
    access.go().await;
    world.end().await;
}

/// Runs `act` once, at this moment of the access's way.
pub(super) fn at<F: Future<Output = ()> + Send + 'static>(
    world: &World,
    access: &TestAccess,
    when: &str,
    act: impl Fn() -> F + Send + Sync + 'static,
) {
    if when == "while granting" {
        let on = On::grant().named(&access.account_name()).nth(1);
        world.driver.rule(on, Step::honest().before(move |_| act()));
        return;
    }
    let fill = Match::change("secrets").named(access.secret_name(0)).nth(1);
    let act = move |_: Request| act();
    let before = when == "before it is filled";
    let action = if before { Action::forward().before(act) } else { Action::forward().after(act) };
    world.proxy.rule(fill, action);
}

/// R8: a Secret that can't be written keeps no other from being written.
#[tokio::test]
async fn a_secret_that_cannot_be_written_keeps_no_other_from_it() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let wish = AccessWish::to(&first).await.and(&second, "ReadOnly").await;
    let access = world.plan_access(wish).await;
    let unlucky = Match::change("secrets").named(access.secret_name(0));
    let unlucky = world.proxy.rule(unlucky, Action::status(403));
    access.hand_over().await;
    let filled = |secret: &k8s_openapi::api::core::v1::Secret| secret.data.is_some();
    access.wait_secret(1, "to be filled", filled).await;
    unlucky.wait_hits(2).await.unwrap();
    assert!(!is_ready(&access.get().await.unwrap()), "I5");
    assert_eq!(world.driver.count(&On::grant()), 1, "R7: the answer is remembered");
    unlucky.off();
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// R8 at the other end: a Secret that can't be deleted keeps no other from going, and the account waits for all.
#[tokio::test]
async fn a_secret_that_cannot_be_deleted_keeps_no_other_from_going() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let access = world.access(AccessWish::to(&first).await.and(&second, "ReadOnly").await).await;
    access.wait_ready().await;
    let unlucky = Match::delete("secrets").named(access.secret_name(0));
    let unlucky = world.proxy.rule(unlucky, Action::status(500));
    access.delete().await;
    world.proxy.wait_applied(&Match::delete("secrets").named(access.secret_name(1)), 1).await.unwrap();
    unlucky.wait_hits(2).await.unwrap();
    assert_eq!(world.driver.count(&On::revoke()), 0, "Secrets first");
    unlucky.off();
    access.wait_clean().await;
    access.finish().await;
    world.end().await;
}

/// A Secret of a former access under this name, whose owner went by force across a crash, so that only the name is left to
/// know it by: its finalizer goes when the name comes up again. The garbage collector is played by the test.
#[tokio::test]
async fn the_secret_of_a_former_owner_is_let_go_when_its_name_comes_up_again() {
    let Some((mut world, bucket)) = start().await else { return };
    let former = ready(&world, &bucket).await;
    world.may_leave_account(&former);
    world.sidecar.kill();
    former.remove_by_force().await;
    former.delete_secret(0).await;
    world.sidecar.start().unwrap();
    let access = world.access(former.wish.clone().metadata("name", former.name.clone().into())).await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}
