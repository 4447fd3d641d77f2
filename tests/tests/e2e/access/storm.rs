//! Everything goes wrong at once, by a seed; then nothing does, and all is as it should be (I1, I5, I6).

use std::time::Duration;

use cosi_sim::driver::{Abilities, Ids, Keys, On};
use futures::future::join_all;
use rstest::rstest;

use super::start_with;
use crate::storm::{Dice, step, unlucky_writes};
use crate::world::{AccessWish, Setup, TestAccess};

fn derived(_: &mut Abilities) {}

fn opaque_without_by_name(driver: &mut Abilities) {
    driver.ids = Ids::Opaque;
    driver.by_name = false;
    driver.keys = Keys::Rotating;
}

/// 100 accesses granted and revoked while one in five writes and one in three calls goes wrong, with a SIGKILL in between.
#[rstest]
#[case::derived_ids(1, derived)]
#[case::opaque_ids_without_by_name(2, opaque_without_by_name)]
#[tokio::test]
async fn after_a_storm_every_account_is_where_it_should_be(
    #[case] seed: u64,
    #[case] driver: fn(&mut Abilities),
) {
    let setup = Setup::traced().driver(driver).recheck(Duration::from_secs(1));
    let Some((mut world, bucket)) = start_with(setup).await else { return };
    // A new process may replay a Grant whose Revoke its predecessor never heard the end of (R10 e), and revoke beside it (I8).
    world.reuses_names = true;
    world.grace = Duration::ZERO;
    let faults = unlucky_writes(&world, seed);
    let dice = Dice::new(seed);
    world.driver.script(On::grant(), (0..100).map(|_| step(dice.throw())));
    world.driver.script(On::revoke(), (0..40).map(|_| step(dice.throw())));

    let accesses = join_all((0..100).map(async |_| world.access(AccessWish::to(&bucket).await).await)).await;
    let (gone, kept): (Vec<_>, Vec<_>) = accesses.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    let (gone, kept): (Vec<_>, Vec<_>) =
        (gone.into_iter().map(|(_, a)| a).collect(), kept.into_iter().map(|(_, a)| a).collect());
    world.driver.wait_calls(&On::grant(), 60).await.unwrap();
    join_all(gone.iter().map(|access| access.delete())).await;
    // Some lose their Secret on top of it.
    join_all(kept.iter().step_by(5).map(|access| access.lose_secret(0))).await;
    world.restart_sidecar();
    join_all(kept.iter().map(|access| access.wait("to be Ready", crate::world::is_ready))).await;
    faults.iter().for_each(cosi_sim::Rule::off);
    join_all(gone.iter().map(|access| access.wait_clean())).await;
    join_all(kept.iter().map(|access| access.wait_ready())).await;
    let names: Vec<String> = kept.iter().map(|access| access.account_name()).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    world.driver.wait_grants(&names).await.unwrap();
    join_all(gone.iter().map(|access| access.finish())).await;
    join_all(kept.into_iter().map(TestAccess::go)).await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}
