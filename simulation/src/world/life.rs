//! A run, from beginning to end.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::World;
use crate::Invariant;
use crate::schedule::{Act, Fault, Move, Story};
use crate::settings::{GRACE, LEASE, RECHECK, RETRY_MAX, TIMEOUT};

/// Between two looks at whether all has settled.
const LOOK: Duration = Duration::from_millis(250);
/// How long no step may come before the next thing happens anyhow: longer than any wait within a life that goes well.
const QUIET: Duration = Duration::from_secs(6);
/// How long all must stay as it should be: longer than anything could still be on its way.
const STAYS: Duration = Duration::from_secs(4);
/// After so long everything that is as it should be has come to rest.
const REST: Duration = Duration::from_mins(2);

impl World {
    /// People make the object, the schedule happens, and in the end the object is deleted. Says what is judged on the way.
    pub(crate) async fn live(self: &Arc<Self>) {
        self.make_namespace();
        if self.schedule.story == Story::Access {
            self.make_static_bucket();
        }
        self.make();
        for process in 0..self.schedule.sidecars {
            self.start(process);
        }
        if self.settle().await && self.object().is_some() {
            self.act(Act::Delete);
            self.disturb();
            self.settle().await;
        }
        if self.lock().violations.is_empty() {
            self.judge();
        }
        self.forget_tenures();
    }

    /// Waits until nothing is left to happen, and everything is as it should be and stays so. Says whether that came.
    async fn settle(self: &Arc<Self>) -> bool {
        let mut good_since = None;
        loop {
            sleep(LOOK).await;
            self.controllers_act();
            if !self.lock().violations.is_empty() {
                return false;
            }
            let (disturbed, last_step, under_way) = {
                let state = self.lock();
                (state.disturbed, state.last_step.max(state.disturbed), state.under_way > 0)
            };
            let good = self.is_as_it_should_be();
            if last_step.elapsed() > if good { STAYS } else { QUIET } && self.hurry() {
                good_since = None;
                continue;
            }
            if !good {
                good_since = None;
                if disturbed.elapsed() > self.patience() {
                    if let Some((invariant, what)) = self.missing() {
                        self.violate(invariant, format!("after {:?}: {what}", disturbed.elapsed()));
                    }
                    return false;
                }
                continue;
            }
            if disturbed.elapsed() > self.patience() + REST {
                self.violate(Invariant::Progress, "all is as it should be, and it does not rest".to_owned());
                return false;
            }
            let since = *good_since.get_or_insert_with(Instant::now);
            if since.elapsed() > STAYS && last_step.elapsed() > STAYS && !under_way {
                return true;
            }
        }
    }

    /// I6: how long the sidecar may take from the last disturbance on.
    fn patience(&self) -> Duration {
        let mut patience = (TIMEOUT + GRACE) * 2 + RETRY_MAX + self.schedule.lag * 2;
        for (_, what) in &self.schedule.moves {
            patience += match what {
                // An answer is waited for.
                Move::Fault(Fault::Api(_)) => Duration::from_secs(16) + RECHECK,
                Move::Fault(Fault::Call(fault)) if fault.may_be_final() => RECHECK,
                Move::Fault(Fault::Pause(pause) | Fault::Freeze(pause)) => *pause,
                // Its leader may wait for an answer, give up, and have a successor who waits in its turn.
                Move::Lease(_) => LEASE * 2,
                // Secrets are not watched.
                Move::Act(Act::LoseSecret | Act::TakeSecret) => RECHECK,
                // A watch comes back by itself, after an error somewhat later.
                Move::Watches(_) => Duration::from_secs(4),
                _ => Duration::ZERO,
            };
        }
        if self.schedule.sidecars > 1 {
            patience += LEASE * 2;
        }
        // A Secret whose creation had no certain outcome holds a deletion up for a minute.
        if self.schedule.story == Story::Access { patience + Duration::from_mins(1) } else { patience }
    }
}
