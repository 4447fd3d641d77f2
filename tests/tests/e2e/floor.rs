//! What a lifecycle costs when nothing goes wrong (lifecycle.md §3): not one request more.

use cosi_sim::driver::On;

use crate::world::{Wish, World};

/// I9, the floor's first two rows.
#[tokio::test]
async fn a_bucket_costs_two_writes_and_a_call_to_make_and_one_of_each_to_delete() {
    let Some(world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    let id = bucket.wait_ready().await;
    assert_eq!(id, bucket.name, "the id is the backend's");
    assert_eq!(world.proxy.writes(), 2, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::create()), 1);

    let mark = world.proxy.mark();
    bucket.release().await;
    bucket.wait_gone().await;
    assert_eq!(world.proxy.writes_since(mark), 1, "{}", world.proxy.log());
    assert_eq!(world.driver.count(&On::delete()), 1);
    assert_eq!(world.driver.count(&On::any()), 3, "GetInfo, Create, Delete");
    assert!(bucket.events().await.is_empty(), "R16: the success path writes no Event");
    world.end_empty().await;
}
