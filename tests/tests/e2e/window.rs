//! The window itself (lifecycle.md §1): the process dies between what the driver did and what the API server was told.

use std::time::Duration;

use cosi_sim::driver::{Abilities, Ids, On, Step};
use cosi_sim::proxy::{Action, Match};
use rstest::rstest;

use crate::world::{Setup, Wish, World};

/// Every kind of driver: by-name RPC or not, ids that follow from the name or not.
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

/// SIGKILL between the driver's answer and the status write, and the Bucket is deleted while nobody is there: the backend
/// is empty afterwards.
#[rstest]
#[tokio::test]
async fn killed_before_the_status_write_and_deleted_meanwhile_nothing_is_left(
    #[values(by_name, no_by_name, opaque, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some(mut world) = Setup::default().driver(driver).start().await else { return };
    let status = world.proxy.rule(Match::change("buckets/status").nth(1), Action::hang());
    let bucket = world.create(Wish::delete()).await;
    status.wait_hit().await.unwrap();
    world.sidecar.kill();
    world.driver.holds_exactly(&[&bucket.name]).unwrap();
    assert!(bucket.get().await.unwrap().status.is_none(), "the window is open");
    bucket.release().await;
    world.sidecar.start().unwrap();
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// The same, deleted only after the next process has found its way: the bucket is found again, not made again (I2).
#[rstest]
#[tokio::test]
async fn killed_before_the_status_write_and_deleted_later_nothing_is_left(
    #[values(by_name, no_by_name, opaque, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some(mut world) = Setup::default().driver(driver).start().await else { return };
    let status = world.proxy.rule(Match::change("buckets/status").nth(1), Action::hang());
    let bucket = world.create(Wish::delete()).await;
    status.wait_hit().await.unwrap();
    let id = world.driver.bucket(&bucket.name).unwrap().id;
    world.restart_sidecar();
    assert_eq!(bucket.wait_ready().await, id);
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// Killed at each of the other points of a Bucket's life, for Buckets that are deleted before the next process starts.
#[rstest]
#[tokio::test]
async fn killed_at_any_point_nothing_is_left(
    #[values(by_name, no_by_name, opaque, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some(mut world) = Setup::default().driver(driver).start().await else { return };
    let plans = [world.plan().await, world.plan().await, world.plan().await, world.plan().await];
    let [intent, running, landing, recorded] = plans.each_ref().map(|plan| plan.name.as_str());
    let hits = [
        // The finalizer is on, and the process does not know.
        world.proxy.rule(Match::change("buckets").named(intent), Action::hang_answer()),
        // The status is written, and the process does not know.
        world.proxy.rule(Match::change("buckets/status").named(recorded), Action::hang_answer()),
    ];
    // The bucket is made, and the answer on its way; or it lands while nobody is there any more.
    let answering = world.driver.rule(On::create().named(running).nth(1), Step::do_then_hold());
    let late = world.driver.rule(On::create().named(landing).nth(1), Step::hang_then_land_on_release());
    let mut buckets = vec![];
    for plan in &plans {
        buckets.push(world.create_planned(plan, Wish::delete()).await);
    }
    for hit in hits {
        hit.wait_hit().await.unwrap();
        hit.off();
    }
    answering.wait_hit().await.unwrap();
    late.wait_hit().await.unwrap();
    world.sidecar.kill();
    answering.release();
    late.release();
    for bucket in &buckets {
        bucket.release().await;
    }
    world.sidecar.start().unwrap();
    for bucket in &buckets {
        bucket.wait_gone().await;
    }
    world.end_empty().await;
}

/// Killed between the driver's delete and the removal of the finalizer, before and after either. Two deletes may overlap
/// across processes (I8), so the grace is not asked for here.
#[rstest]
#[tokio::test]
async fn killed_while_deleting_the_deletion_is_finished(
    #[values(by_name, opaque_no_by_name)] driver: fn(&mut Abilities),
) {
    let Some(mut world) = Setup::default().driver(driver).start().await else { return };
    world.grace = Duration::ZERO;
    let buckets = world.create_many(3, &Wish::delete()).await;
    for bucket in &buckets {
        bucket.wait_ready().await;
    }
    let [before, after, removed] = [0, 1, 2].map(|n: usize| buckets[n].name.as_str());
    let before = world.driver.rule(On::delete().named(before).nth(1), Step::hang());
    let after = world.driver.rule(On::delete().named(after).nth(1), Step::do_then_hang());
    let removed = world.proxy.rule(Match::change("buckets").named(removed).nth(1), Action::hang());
    for bucket in &buckets {
        bucket.release().await;
    }
    before.wait_hit().await.unwrap();
    after.wait_hit().await.unwrap();
    removed.wait_hit().await.unwrap();
    world.restart_sidecar();
    for bucket in &buckets {
        bucket.wait_gone().await;
    }
    assert_eq!(world.driver.count(&On::create()), 3, "C19: no Create after a delete");
    world.end_empty().await;
}

/// C13, R2: the finalizer is there before the first call, and a later process asks under the same name.
#[tokio::test]
async fn the_finalizer_is_there_before_the_first_call_and_the_name_stays() {
    let Some(mut world): Option<World> = World::start().await else { return };
    let first = world.driver.rule(On::create().nth(1), Step::hold());
    let bucket = world.create(Wish::delete()).await;
    let call = first.wait_hit().await.unwrap();
    assert!(crate::world::has_our_finalizer(&bucket.get().await.unwrap()), "R1");
    world.restart_sidecar();
    first.release();
    bucket.wait_ready().await;
    let calls = world.driver.calls(&On::create());
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].request, call.request);
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}
