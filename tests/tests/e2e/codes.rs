//! Each gRPC code on each RPC (C27): when is it tried again, and does the bucket go in the end?

use std::time::Duration;

use cosi_sim::driver::{Abilities, Ids, On, Step};
use futures::future::join_all;
use tonic::Code;

use crate::world::{Setup, TestBucket, Wish, World, reasons};

/// 1–16, and one that gRPC does not define.
pub(crate) const CODES: [i32; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 42];

/// When the same call may come again (protocol.md §2, lifecycle.md R3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Again {
    /// After its backoff.
    Soon,
    /// The call may still be at work.
    AfterGrace,
    /// When something changes, or at the slow re-check.
    AtRecheck,
}

/// Written down a second time on purpose: a table, not a copy of the product's function.
pub(crate) fn again(code: i32) -> Again {
    match code {
        // INVALID_ARGUMENT, ALREADY_EXISTS, UNIMPLEMENTED.
        3 | 6 | 12 => Again::AtRecheck,
        // NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION, ABORTED, UNAUTHENTICATED.
        5 | 7 | 9 | 10 | 16 => Again::Soon,
        _ => Again::AfterGrace,
    }
}

/// The same for a delete: NOT_FOUND is asked once more, a grace later.
pub(crate) fn again_for_delete(code: i32) -> Again {
    if code == 5 { Again::AfterGrace } else { again(code) }
}

pub(crate) const NEVER: Duration = Duration::from_mins(10);

impl Again {
    pub(crate) const ALL: [Self; 3] = [Self::Soon, Self::AfterGrace, Self::AtRecheck];

    /// Which wait ends in a world where the others never do: that a call is repeated at all shows that it waited for no
    /// other, however busy the machine is.
    pub(crate) fn grace(self) -> Duration {
        if self == Self::AfterGrace { Duration::from_millis(800) } else { NEVER }
    }

    fn recheck(self) -> Duration {
        if self == Self::AtRecheck { Duration::from_secs(1) } else { NEVER }
    }

    async fn world(self, change: impl FnOnce(&mut Abilities)) -> Option<World> {
        self.setup(Setup::default()).driver(change).start().await
    }

    pub(crate) fn setup(self, setup: Setup) -> Setup {
        let (start, max) = (Duration::from_millis(10), Duration::from_millis(40));
        setup.retry(start, max).grace(self.grace()).recheck(self.recheck())
    }

    /// The second call comes, and not too early.
    pub(crate) async fn check(self, world: &World, on: &On, what: &str) {
        world.driver.wait_calls(on, 2).await.unwrap();
        let calls = world.driver.calls(on);
        let gap = calls[1].at.saturating_sub(calls[0].at);
        let least = match self {
            Self::Soon => Duration::ZERO,
            Self::AfterGrace => self.grace(),
            Self::AtRecheck => self.recheck(),
        };
        // The client's clock starts and ends a little beside the driver's.
        let early = gap + Duration::from_millis(50) < least;
        assert!(!early, "{what}: repeated after {gap:?}, expected {self:?}\n{}", world.driver.ledger());
    }
}

async fn release_all(world: World, buckets: &[TestBucket]) {
    join_all(buckets.iter().map(TestBucket::release)).await;
    join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    world.end_empty().await;
}

/// C27, R3, R16: answered before, after and half-way through the making.
#[tokio::test]
async fn every_code_on_create_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some(world) = class.world(|driver| driver.ids = Ids::Opaque).await else { return };
        let kinds: [fn(i32) -> Step; 3] = [Step::fail, Step::done_but, Step::half_done];
        let codes = CODES.iter().filter(|code| again(**code) == class);
        let rows = codes.flat_map(|code| kinds.map(|step| (*code, step(*code))));
        let buckets = join_all(rows.map(|(code, step)| failing_create(&world, class, code, step))).await;
        let names: Vec<&str> = buckets.iter().map(|bucket| bucket.name.as_str()).collect();
        world.driver.holds_exactly(&names).unwrap();
        if class == Again::Soon {
            // Among them is ABORTED, after which a delete waits for a grace that does not end here.
            world.end().await;
        } else {
            release_all(world, &buckets).await;
        }
    }
}

async fn failing_create(world: &World, class: Again, code: i32, step: Step) -> TestBucket {
    let plan = world.plan().await;
    let on = On::create().named(&plan.name);
    let what = format!("code {code}, {step:?}");
    world.driver.rule(on.clone().nth(1), step);
    let bucket = world.create_planned(&plan, Wish::delete()).await;
    class.check(world, &on, &what).await;
    bucket.wait_ready().await;
    let reason = if class == Again::AtRecheck { "Refused" } else { "Failing" };
    assert_eq!(reasons(&bucket.events().await), [reason], "{what}");
    bucket
}

/// C27, R3: the answer came, and what was asked for comes later, within the grace.
#[tokio::test]
async fn a_create_that_lands_after_its_error_makes_no_second_bucket() {
    let class = Again::AfterGrace;
    let Some(world) = class.world(|driver| driver.ids = Ids::OpaqueRacy).await else { return };
    let codes = CODES.iter().filter(|code| again(**code) == class);
    let buckets = join_all(codes.map(async |code| {
        let plan = world.plan().await;
        let late = Step::fail_then_land(*code, class.grace() / 2);
        world.driver.rule(On::create().named(&plan.name).nth(1), late);
        let bucket = world.create_planned(&plan, Wish::delete()).await;
        bucket.wait_ready().await;
        bucket
    }))
    .await;
    release_all(world, &buckets).await;
}

/// C27 for static Buckets.
#[tokio::test]
async fn every_code_on_get_existing_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some(world) = class.world(|_| {}).await else { return };
        let codes = CODES.iter().filter(|code| again(**code) == class);
        join_all(codes.map(async |code| {
            let id = format!("existing-{code}");
            world.driver.add_foreign(&id);
            let on = On::get_existing().named(&id);
            world.driver.rule(on.clone().nth(1), Step::fail(*code));
            let bucket = world.create_static(&id).await;
            class.check(&world, &on, &format!("code {code}")).await;
            assert_eq!(bucket.wait_ready().await, id);
        }))
        .await;
        assert_eq!(world.driver.count(&On::create()), 0, "C12");
        world.end().await;
    }
}

/// C27, R14: a deletion is blocked by each of them, visibly, and goes on by itself.
#[tokio::test]
async fn every_code_on_delete_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some(world) = class.world(|_| {}).await else { return };
        let codes = CODES.iter().filter(|code| again_for_delete(**code) == class);
        join_all(codes.map(async |code| {
            let bucket = world.create(Wish::delete()).await;
            bucket.wait_ready().await;
            blocked_delete(&world, class, *code, On::delete(), &bucket).await;
        }))
        .await;
        world.end_empty().await;
    }
}

/// C27, R10 d: the same where only the name is known. After UNIMPLEMENTED and INVALID_ARGUMENT comes the replay, which has
/// tests of its own (C2, C7).
#[tokio::test]
async fn every_code_on_delete_by_name_is_repeated_when_it_should_be() {
    for class in Again::ALL {
        let Some(world) = class.world(|driver| driver.ids = Ids::Opaque).await else { return };
        let codes = CODES.iter().filter(|code| again_for_delete(**code) == class && ![3, 12].contains(*code));
        world.driver.rule(On::create(), Step::done_but(Code::PermissionDenied));
        join_all(codes.map(async |code| {
            let bucket = world.create(Wish::delete()).await;
            bucket.wait_error("PERMISSION_DENIED").await;
            blocked_delete(&world, class, *code, On::delete_by_name(), &bucket).await;
        }))
        .await;
        world.end_empty().await;
    }
}

async fn blocked_delete(world: &World, class: Again, code: i32, on: On, bucket: &TestBucket) {
    let on = on.named(&bucket.name);
    world.driver.rule(on.clone().nth(1), Step::fail(code));
    bucket.release().await;
    class.check(world, &on, &format!("code {code}")).await;
    bucket.wait_gone().await;
    let reason = if code == 5 { "NotFoundAtBackend" } else { "DeletionBlocked" };
    let events = bucket.events().await;
    assert!(code == 5 || reasons(&events).contains(&reason), "code {code}: {:?}", reasons(&events));
}
