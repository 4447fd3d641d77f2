//! Watches that are cut, late, or lose events until the next list.

use std::time::Duration;

use cosi_sim::driver::On;
use cosi_sim::proxy::Match;
use futures::future::join_all;

use crate::world::{TestBucket, Wish, World};

/// Cut in the middle, again and again, while Buckets come and go.
#[tokio::test]
async fn cut_watches_lose_nothing() {
    let Some(world) = World::start().await else { return };
    let mut buckets = vec![];
    for _ in 0..5 {
        buckets.extend(world.create_many(4, &Wish::delete()).await);
        world.proxy.cut_watches("buckets");
    }
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    for chunk in buckets.chunks(4) {
        join_all(chunk.iter().map(TestBucket::release)).await;
        world.proxy.cut_watches("buckets");
    }
    join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    assert_eq!(world.driver.count(&On::create()), 20);
    assert_eq!(world.driver.count(&On::delete()), 20);
    world.end_empty().await;
}

/// Late: what was decided on an old view is corrected by the read before the act (R4), and all is well when it comes.
#[tokio::test]
async fn stalled_watches_only_delay() {
    let Some(world) = World::start().await else { return };
    let old = world.create(Wish::delete()).await;
    old.wait_ready().await;
    world.proxy.stall_watches("buckets");
    old.release().await;
    let new = world.create(Wish::delete()).await;
    let short_lived = world.create(Wish::delete()).await;
    short_lived.release().await;
    short_lived.wait_gone().await;
    world.proxy.resume_watches("buckets");
    old.wait_gone().await;
    new.wait_ready().await;
    assert_eq!(world.driver.count(&On::create().named(&short_lived.name)), 0, "R1");
    new.release().await;
    new.wait_gone().await;
    world.end_empty().await;
}

/// Lost until the history is gone and everything is listed anew: new objects, deletions, and objects that are gone.
#[tokio::test]
async fn events_that_are_lost_are_made_good_by_the_next_list() {
    let Some(world) = World::start().await else { return };
    let leaving = world.create(Wish::delete()).await;
    leaving.wait_ready().await;
    world.proxy.drop_events("buckets");
    leaving.release().await;
    let new = world.create(Wish::delete()).await;
    let lists = world.proxy.count(&Match::list("buckets"));
    assert_eq!(world.proxy.expire_watches("buckets"), 1);
    world.wait_seen(&Match::list("buckets"), lists + 1).await;
    leaving.wait_gone().await;
    new.wait_ready().await;
    new.release().await;
    new.wait_gone().await;
    world.end_empty().await;
}

/// Architecture, trap 3: a connection that is dead and does not say so is noticed after a minute, not after five.
#[tokio::test]
async fn a_dead_watch_is_not_waited_for_longer_than_a_minute() {
    let Some(world) = World::start().await else { return };
    world.create(Wish::delete()).await.wait_ready().await;
    let asked = world.proxy.log().only(&Match::watch("buckets"));
    let uri = &asked.entries.last().unwrap().request.uri;
    let seconds: u64 =
        uri.split(['?', '&']).find_map(|p| p.strip_prefix("timeoutSeconds=")).unwrap().parse().unwrap();
    assert!(Duration::from_secs(seconds) <= Duration::from_mins(1), "{uri}");
    world.end().await;
}
