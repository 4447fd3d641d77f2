//! The window of accesses: the process dies at each point of an access's life, and the access is deleted before or after
//! the next one starts.

use std::time::Duration;

use cosi_sim::driver::{Abilities, Ids, Keys, On, Step};
use cosi_sim::proxy::{Action, Match};
use rstest::rstest;

use super::{listed, start_with};
use crate::world::{AccessWish, Setup, TestAccess, TestBucket, World, is_ready};

/// Every kind of driver: by-name RPC or not, ids that follow from the name or not, keys that a repeated Grant voids.
fn by_name(driver: &mut Abilities) {
    driver.ids = Ids::Derived("tenant-7/".to_owned());
}

fn no_by_name(driver: &mut Abilities) {
    driver.by_name = false;
    driver.keys = Keys::Rotating;
}

fn opaque(driver: &mut Abilities) {
    driver.ids = Ids::Opaque;
    driver.keys = Keys::Rotating;
}

fn opaque_no_by_name(driver: &mut Abilities) {
    driver.ids = Ids::Opaque;
    driver.by_name = false;
}

/// A point in the life of an access at which the process can be killed, as a rule that holds it there.
const GRANTING: [&str; 10] = [
    "reserving",
    "reserved",
    "granting",
    "granted",
    "granted later",
    "filling",
    "filled",
    "recording",
    "recorded",
    "looking",
];

/// Waits until the process is at that point and can't go on.
struct Point {
    hit: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
    /// What the dead process sent goes on.
    go_on: Box<dyn Fn() + Send>,
}

fn point(world: &World, access: &TestAccess, name: &str) -> Point {
    let (secret, account) = (access.secret_name(0), access.account_name());
    let of = |which: Match, action: Action| {
        let rule = world.proxy.rule(which.nth(1), action);
        let hit = rule.clone();
        let hit = Box::pin(async move { drop(hit.wait_hit().await.unwrap()) });
        Point { hit, go_on: Box::new(move || rule.off()) }
    };
    let call = |on: On, step: Step| {
        let rule = world.driver.rule(on.named(&account).nth(1), step);
        let hit = rule.clone();
        let hit = Box::pin(async move { drop(hit.wait_hit().await.unwrap()) });
        Point { hit, go_on: Box::new(move || rule.release()) }
    };
    let status = || Match::change("bucketaccesses/status").named(&access.name);
    match name {
        "looking" => of(Match::get("buckets").named(access.wish.bucket(0)), Action::hang()),
        "reserving" => of(Match::create("secrets").named(secret), Action::hang()),
        "reserved" => of(Match::create("secrets").named(secret), Action::hang_answer()),
        "granting" => call(On::grant(), Step::hang()),
        "granted" => call(On::grant(), Step::do_then_hold()),
        "granted later" => call(On::grant(), Step::hang_then_land_on_release()),
        "filling" | "releasing" => of(Match::change("secrets").named(secret), Action::hang()),
        "filled" | "released" => of(Match::change("secrets").named(secret), Action::hang_answer()),
        "recording" | "unreadying" => of(status(), Action::hang()),
        "recorded" | "unready" => of(status(), Action::hang_answer()),
        "deleting" => of(Match::delete("secrets").named(secret), Action::hang()),
        "deleted" => of(Match::delete("secrets").named(secret), Action::hang_answer()),
        "revoking" => call(On::revoke(), Step::hang()),
        "revoked" => call(On::revoke(), Step::do_then_hang()),
        "marking" => of(Match::change("bucketaccesses").named(&access.name), Action::hang()),
        "marked" => of(Match::change("bucketaccesses").named(&access.name), Action::hang_answer()),
        other => panic!("no point {other}"),
    }
}

/// Accesses held at each point, and what lets the requests of a dead process go on.
async fn at_every_point(world: &World, bucket: &TestBucket) -> (Vec<TestAccess>, Vec<Box<dyn Fn() + Send>>) {
    let mut points = vec![];
    let mut accesses = vec![];
    for name in GRANTING {
        // A Bucket of its own for the one whose look at it is held.
        let own = if name == "looking" { Some(world.bucket().await) } else { None };
        let access = world.plan_access(AccessWish::to(own.as_ref().unwrap_or(bucket)).await).await;
        points.push(point(world, &access, name));
        accesses.push(access);
    }
    for access in &accesses {
        access.hand_over().await;
    }
    let mut go_on = vec![];
    for point in points {
        point.hit.await;
        go_on.push(point.go_on);
    }
    (accesses, go_on)
}

/// SIGKILL at each point on the way to Ready; every access is deleted while nobody is there.
#[rstest]
#[tokio::test]
async fn killed_while_granting_and_deleted_meanwhile_nothing_is_left(
    #[values(by_name, no_by_name, opaque, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some((mut world, bucket)) = start_with(Setup::traced().driver(driver)).await else { return };
    let (accesses, go_on) = at_every_point(&world, &bucket).await;
    world.sidecar.kill();
    for go_on in &go_on {
        go_on();
    }
    for access in &accesses {
        access.delete().await;
    }
    world.sidecar.start().unwrap();
    for access in &accesses {
        access.wait_clean().await;
        access.finish().await;
    }
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// The same, and nobody deletes: each is Ready with keys that work, and each is one account.
#[rstest]
#[tokio::test]
async fn killed_while_granting_every_access_is_ready_in_the_end(
    #[values(by_name, no_by_name, opaque, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some((mut world, bucket)) = start_with(Setup::traced().driver(driver)).await else { return };
    let (accesses, go_on) = at_every_point(&world, &bucket).await;
    world.sidecar.kill();
    for go_on in &go_on {
        go_on();
    }
    world.sidecar.start().unwrap();
    for access in &accesses {
        access.wait_ready().await;
    }
    assert_eq!(world.driver.accounts().len(), accesses.len(), "I2");
    for access in &accesses {
        access.go().await;
    }
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// SIGKILL at each point of the deletion. Two revocations may overlap across processes (I8), so the grace is not asked for.
#[rstest]
#[tokio::test]
async fn killed_while_revoking_the_deletion_is_finished(
    #[values(by_name, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some((mut world, bucket)) = start_with(Setup::traced().driver(driver)).await else { return };
    world.grace = Duration::ZERO;
    let names = [
        "unreadying",
        "unready",
        "releasing",
        "released",
        "deleting",
        "deleted",
        "revoking",
        "revoked",
        "marking",
        "marked",
    ];
    let mut accesses = vec![];
    let mut points = vec![];
    for name in names {
        let access = super::ready(&world, &bucket).await;
        points.push(point(&world, &access, name));
        accesses.push(access);
    }
    for access in &accesses {
        access.delete().await;
    }
    let mut go_on = vec![];
    for point in points {
        point.hit.await;
        go_on.push(point.go_on);
    }
    world.sidecar.kill();
    for go_on in &go_on {
        go_on();
    }
    world.sidecar.start().unwrap();
    for access in &accesses {
        access.wait_clean().await;
        access.finish().await;
    }
    assert_eq!(world.driver.count(&On::grant()), accesses.len(), "C19: no Grant after a Revoke");
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// R3: a Grant that a dead process left running is waited for: for a driver that voids the old keys with each Grant, the
/// one that lands late must not land after the one that is stored.
#[tokio::test]
async fn a_new_process_waits_for_the_grant_of_its_predecessor() {
    let setup = Setup::traced().driver(|driver| driver.keys = Keys::Rotating);
    let Some((mut world, bucket)) = start_with(setup).await else { return };
    let access = world.plan_access(AccessWish::to(&bucket).await).await;
    let late = Step::hang_then_land(Duration::from_millis(1200));
    let late = world.driver.rule(On::grant().nth(1), late);
    access.hand_over().await;
    late.wait_hit().await.unwrap();
    world.restart_sidecar();
    let began = std::time::Instant::now();
    world.driver.wait_calls(&On::grant(), 2).await.unwrap();
    let least = crate::world::TIMEOUT + crate::world::GRACE;
    assert!(began.elapsed() + Duration::from_millis(50) >= least, "R3: after {:?}", began.elapsed());
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// R3: what is handed over while the process runs had no predecessor, and waits for nothing.
#[tokio::test]
async fn an_access_that_is_handed_over_later_is_granted_at_once() {
    let never = crate::codes::NEVER;
    let setup = Setup::traced().grace(never).sidecar_not_started();
    let Some(mut world) = setup.start().await else { return };
    world.sidecar.start().unwrap();
    let bucket = world.bucket().await;
    listed(&world).await;
    let access = world.access(AccessWish::to(&bucket).await).await;
    access.wait_ready().await;
    assert!(is_ready(&access.get().await.unwrap()));
    access.go().await;
    world.end().await;
}
