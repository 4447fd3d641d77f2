//! Everything goes wrong at once, by a seed; then nothing does, and all is as it should be (I1, I2, I6, I8).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cosi_sim::Rule;
use cosi_sim::driver::{Ids, On, Step};
use cosi_sim::proxy::{Action, Match, Request};
use futures::future::join_all;
use rstest::rstest;
use tonic::Code;

use crate::world::{Setup, Wish, World};

/// 250 Buckets made and deleted while one in five writes and one in three calls goes wrong, with a SIGKILL in between.
#[rstest]
#[case::derived_ids(1, true, Ids::Derived(String::new()))]
#[case::opaque_ids_without_by_name(2, false, Ids::Opaque)]
#[tokio::test]
async fn after_a_storm_every_bucket_is_where_it_should_be(
    #[case] seed: u64,
    #[case] by_name: bool,
    #[case] ids: Ids,
) {
    let setup = Setup::default().driver(|driver| {
        driver.by_name = by_name;
        driver.ids = ids;
    });
    let Some(mut world) = setup.start().await else { return };
    // Without by-name RPC, a new process replays Create to learn the id of what its predecessor may have deleted (R10 e).
    world.reuses_names = !by_name;
    // A deletion that the killed process left running may overlap with its successor's (I8), so the grace is not asked for.
    world.grace = Duration::ZERO;
    let faults = unlucky_writes(&world, seed);
    let dice = Dice::new(seed);
    world.driver.script(On::create(), (0..150).map(|_| step(dice.throw())));
    world.driver.script(On::delete(), (0..60).map(|_| step(dice.throw())));

    let buckets = world.create_many(250, &Wish::delete()).await;
    // The even ones go as soon as they may have something at the backend. Not sooner: kube-apiserver looks for finalizers and
    // deletes in two steps, so a finalizer written in between is overlooked, and a crash on top of that is R12's limit.
    let (gone, kept): (Vec<_>, Vec<_>) = buckets.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    join_all(gone.iter().map(|(_, bucket)| bucket.wait_finalizer())).await;
    join_all(gone.iter().map(|(_, bucket)| bucket.release())).await;
    world.restart_sidecar();
    join_all(kept.iter().map(|(_, bucket)| bucket.wait_ready())).await;
    faults.iter().for_each(cosi_sim::Rule::off);
    join_all(gone.iter().map(|(_, bucket)| bucket.wait_gone())).await;
    let mut names: Vec<_> = kept.iter().map(|(_, bucket)| bucket.name.as_str()).collect();
    names.sort_unstable();
    world.driver.wait_holds(&names).await.unwrap();
    join_all(kept.iter().map(|(_, bucket)| bucket.release())).await;
    join_all(kept.iter().map(|(_, bucket)| bucket.wait_gone())).await;
    world.end_empty().await;
}

/// From now on one in five writes to the API server goes wrong, by the seed.
pub(crate) fn unlucky_writes(world: &World, seed: u64) -> Vec<Rule<Request>> {
    let faults = [
        (7, Action::status(500)),
        (11, Action::status(409)),
        (13, Action::lose_answer()),
        (17, Action::cut()),
        (19, Action::status(429)),
    ];
    let rule = |(one_in, action)| {
        let dice = Dice::new(seed * one_in);
        let unlucky = move |_: &Request| dice.throw().is_multiple_of(one_in);
        world.proxy.rule(Match::writes().filter(unlucky), action)
    };
    faults.into_iter().map(rule).collect()
}

/// What the driver does with a call, for a number.
pub(crate) fn step(number: u64) -> Step {
    match number % 9 {
        0 => Step::fail(Code::Unavailable),
        1 => Step::done_but(Code::Internal),
        2 => Step::half_done(Code::Unknown),
        3 => Step::fail(Code::PermissionDenied),
        4 => Step::fail_then_land(Code::DeadlineExceeded, Duration::from_millis(200)),
        _ => Step::honest(),
    }
}

/// Numbers that look random and are the same for a seed.
pub(crate) struct Dice(AtomicU64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// SplitMix64.
    pub(crate) fn throw(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
