//! A Secret name that somebody else takes, at any moment (C31, I4): theirs is never changed or deleted, the access says so,
//! and no account is orphaned by it.

use std::time::Duration;

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::{Action, Match};
use rstest::rstest;
use serde_json::json;

use super::secrets::at;
use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, TestAccess, is_ready};

/// Takes the name of the first Secret for somebody else.
fn takes(
    access: &TestAccess,
) -> impl Fn() -> futures::future::BoxFuture<'static, ()> + Send + Sync + 'static {
    let access = access.clone();
    move || {
        let access = access.clone();
        Box::pin(async move {
            access.lose_secret(0).await;
            access.take_secret_name(0).await;
        })
    }
}

/// Before anything: no Grant, a sentence; and Ready once the name is free.
#[tokio::test]
async fn a_secret_that_was_there_before_is_left_alone_and_said() {
    let setup = Setup::traced().recheck(Duration::from_secs(1));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let foreign = access.take_secret_name(0).await;
    access.hand_over().await;
    access.wait_error(access.secret_name(0)).await;
    access.wait_event("Refused").await;
    assert_eq!(world.driver.count(&On::grant()), 0);
    foreign.check_untouched().await;
    foreign.remove().await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// The same, and the access is deleted: the foreign Secret stays.
#[tokio::test]
async fn a_secret_that_was_there_before_outlives_the_access() {
    let Some((world, bucket)) = start().await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let foreign = access.take_secret_name(0).await;
    access.hand_over().await;
    access.wait_error(access.secret_name(0)).await;
    access.go().await;
    foreign.check_untouched().await;
    world.end().await;
}

/// A Secret that another access controls is as foreign as any.
#[tokio::test]
async fn the_secret_of_another_access_is_left_alone() {
    let Some((world, bucket)) = start().await else { return };
    let first = ready(&world, &bucket).await;
    let name = first.secret_name(0).to_owned();
    let second = AccessWish::to(&bucket).await.entry(|entry| entry.secret.clone_from(&name));
    let second = world.access(second).await;
    second.wait_error(&name).await;
    second.go().await;
    first.wait_ready().await;
    first.go().await;
    world.end().await;
}

/// On the way to Ready: never Ready with a Secret that isn't ours; the account goes with the access.
#[rstest]
#[tokio::test]
async fn a_secret_taken_on_the_way_is_left_alone_and_said(
    #[values("while granting", "before it is filled", "after it is filled")] when: &str,
    #[values(true, false)] freed: bool,
) {
    let setup = Setup::traced().recheck(Duration::from_secs(1));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    at(&world, &access, when, takes(&access));
    access.hand_over().await;
    access.wait_error(access.secret_name(0)).await;
    assert!(!is_ready(&access.get().await.unwrap()), "I5");
    let theirs = access.secret(0).await.unwrap();
    assert_eq!(theirs.metadata.labels.as_ref().unwrap()["of"], "somebody-else");
    if freed {
        access.delete_secret(0).await;
        access.wait_ready().await;
    }
    access.go().await;
    if !freed {
        assert_eq!(access.secret(0).await.unwrap(), theirs, "I4");
    }
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// While Ready: seen when the access is looked at next, at the latest at the re-check.
#[tokio::test]
async fn a_secret_taken_while_ready_is_left_alone_and_said() {
    let setup = Setup::traced().recheck(Duration::from_secs(1));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = ready(&world, &bucket).await;
    takes(&access)().await;
    access.wait_error(access.secret_name(0)).await;
    assert!(!is_ready(&access.get().await.unwrap()), "I5: Ready without credentials");
    let theirs = access.secret(0).await.unwrap();
    access.go().await;
    assert_eq!(access.secret(0).await.unwrap(), theirs, "I4");
    world.end().await;
}

/// While deleting: between our look and our removal of the finalizer, and between that and the delete.
#[rstest]
#[tokio::test]
async fn a_secret_taken_while_deleting_stays_theirs(#[values(true, false)] before_the_finalizer: bool) {
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let name = access.secret_name(0);
    let moment = if before_the_finalizer { Match::change("secrets") } else { Match::delete("secrets") };
    let take = takes(&access);
    let taken = world.proxy.rule(moment.named(name).nth(1), Action::forward().before(move |_| take()));
    access.delete().await;
    access.wait_clean().await;
    assert_eq!(taken.hits(), 1);
    let theirs = access.secret(0).await.expect("I4: their Secret is there");
    assert_eq!(theirs.metadata.labels.unwrap()["of"], "somebody-else");
    access.finish().await;
    world.end().await;
}

/// Owner references are edited by hand: a Secret that we made is not ours any more.
#[tokio::test]
async fn a_secret_that_lost_its_owner_reference_is_nobodys() {
    let setup = Setup::traced().recheck(Duration::from_secs(1));
    let Some((world, bucket)) = start_with(setup).await else { return };
    let access = ready(&world, &bucket).await;
    let disowned = json!({ "metadata": { "ownerReferences": null, "finalizers": null } });
    access.patch_secret(0, &disowned).await;
    access.wait_error(access.secret_name(0)).await;
    let granting = world.driver.rule(On::grant(), Step::honest());
    access.go().await;
    assert_eq!(granting.hits(), 0);
    assert!(access.secret(0).await.is_some(), "I4");
    world.end().await;
}
