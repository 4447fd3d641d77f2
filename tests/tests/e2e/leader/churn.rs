//! Leaders come and go while Buckets and accesses do, too (C29, I1 to I8).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cosi_sim::driver::Rpc;
use cosi_tests::sidecar::Sidecar;
use futures::future::join_all;

use super::LOST;
use crate::world::{AccessWish, Election, Setup, World, eventually};

const CHANGES: usize = 100;
/// As many lives of Buckets at a time.
const LANES: usize = 6;

const SHORTEST: Election = Election {
    lease: Duration::from_secs(1),
    deadline: Duration::from_millis(800),
    retry: Duration::from_millis(150),
};

/// How a leader is made to go.
#[derive(Clone, Copy, Debug)]
enum Means {
    Stop,
    Kill,
    Pause,
}

#[tokio::test]
async fn a_hundred_changes_of_the_leader_leave_nothing_behind() {
    let setup = Setup::default().elects(SHORTEST).driver(|driver| driver.honours_not_after = true);
    let Some(mut world) = setup.log_level("info").start().await else { return };
    // A deletion by id may be repeated beside a predecessor's (I8), so the grace is not asked for.
    world.grace = Duration::ZERO;
    let mut rival = world.rival().await;
    rival.sidecar.start().unwrap();
    let twin = world.sidecar.twin().unwrap();
    let mut first = std::mem::replace(&mut world.sidecar, twin);
    let done = Arc::new(AtomicBool::new(false));
    let lanes = join_all((0..LANES).map(|_| lives(&world, &done)));
    let changes = async {
        for n in 0..CHANGES {
            let means = match n % 10 {
                3 | 7 => Means::Kill,
                5 => Means::Pause,
                _ => Means::Stop,
            };
            change(&world, [&mut first, &mut rival.sidecar], means).await;
        }
        done.store(true, Ordering::Relaxed);
    };
    let (counts, ()) = tokio::join!(lanes, changes);
    let total: usize = counts.into_iter().sum();
    assert!(total >= LANES, "{total} lives only");
    for sidecar in [&first, &rival.sidecar] {
        assert_eq!(without_losses(sidecar), Vec::<String>::new(), "C10");
    }
    let ledger = world.driver.ledger();
    let unlimited = ledger.calls().find(|call| call.rpc != Rpc::GetInfo && call.not_after_ns.is_none());
    assert!(unlimited.is_none(), "R15: {unlimited:?}");
    world.driver.holds_exactly(&[]).unwrap();
    world.driver.grants_exactly(&[]).unwrap();
    drop((first, rival));
    world.end_stopped().await;
}

/// Buckets with an access each, one after the other. How many there were.
async fn lives(world: &World, done: &AtomicBool) -> usize {
    let mut n = 0;
    while !done.load(Ordering::Relaxed) {
        let bucket = world.bucket().await;
        if n % 2 == 0 {
            let access = world.access(AccessWish::to(&bucket).await).await;
            access.wait_ready().await;
            access.go().await;
        }
        bucket.release().await;
        bucket.wait_gone().await;
        n += 1;
    }
    n
}

/// The leader goes, and the other one leads.
async fn change(world: &World, sidecars: [&mut Sidecar; 2], means: Means) {
    let lease = world.lease();
    let [one, other] = sidecars;
    for sidecar in [&mut *one, &mut *other] {
        if !sidecar.is_running() {
            sidecar.start().unwrap();
        }
    }
    let [me, you] = [identity(one).await, identity(other).await];
    let holder = lease.wait_holder("a leader", |holder| holder == me || holder == you).await;
    let (leader, leads) = if holder == me { (one, me) } else { (other, you) };
    match means {
        Means::Stop => leader.terminate().unwrap(),
        Means::Kill => leader.kill(),
        Means::Pause => leader.pause().unwrap(),
    }
    lease
        .wait_holder(&format!("another leader after {means:?}"), |now| !now.is_empty() && now != leads)
        .await;
    match means {
        Means::Stop => drop(leader.wait_exit().await.unwrap()),
        Means::Kill => {}
        Means::Pause => {
            leader.resume().unwrap();
            assert!(!leader.wait_exit().await.unwrap().success(), "{}", leader.log());
        }
    }
}

/// How the current life of a sidecar signs.
async fn identity(sidecar: &Sidecar) -> String {
    let what = "it stands for election";
    eventually(what, async || {
        let lines = sidecar.lines_with("standing for election");
        let starts = sidecar.lines_with("starting version").len();
        let last = lines.last().filter(|_| lines.len() == starts).cloned().ok_or_else(|| sidecar.log())?;
        let signed =
            last.split("identity=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        Ok(signed.to_owned())
    })
    .await
}

/// Losing a lease is an error to whoever reads the log; here it is meant.
fn without_losses(sidecar: &Sidecar) -> Vec<String> {
    let errors = sidecar.lines_with(" ERROR ");
    errors.into_iter().filter(|line| !line.contains(LOST) && !line.contains("Lease is lost")).collect()
}
