//! Steps: where the schedule meets the run.

use std::sync::Arc;

use tokio::time::Instant;

use super::{Sort, World};

use crate::Invariant;
use crate::schedule::{Fault, Move};
use crate::trace::Who;

/// No life takes so many: who does is running in circles. Virtual time may stand still meanwhile, so nothing else would end it.
const MOST: u32 = 1000;

impl World {
    /// A sidecar takes a step. Whatever the schedule has before it happens now; what goes wrong with the step itself is
    /// returned. A fault that such a step cannot meet waits for one that can.
    pub(crate) fn step(self: &Arc<Self>, sort: Sort) -> Option<Fault> {
        let number = {
            let mut state = self.lock();
            state.steps += 1;
            state.sorts.push(sort);
            state.last_step = Instant::now();
            state.steps - 1
        };
        if number == MOST {
            self.violate(Invariant::Thrift, format!("{MOST} steps, and no end"));
        }
        let mut fault = None;
        let mut waits = Vec::new();
        while let Some((at, due)) = self.due(number) {
            match due {
                Move::Fault(due) if due.fits(sort) && fault.is_none() => fault = Some(due),
                Move::Fault(_) => waits.push((at, due)),
                other => self.happen(other),
            }
        }
        for waiting in waits.into_iter().rev() {
            self.lock().moves.push_front(waiting);
        }
        if let Some(fault) = fault {
            self.disturb();
            self.lock().facts.struck(fault);
            self.tell(Who::World, format_args!("step {number} goes wrong: {fault:?}"));
        }
        fault
    }

    /// Whether it makes no sense to answer anything any more.
    pub(crate) fn runs_in_circles(&self) -> bool {
        self.lock().steps > MOST
    }

    /// The next move of the schedule, if it is due before this step.
    fn due(&self, step: u32) -> Option<(u32, Move)> {
        self.lock().moves.pop_front_if(|(at, _)| *at <= step)
    }

    /// Makes the next act happen though its step did not come. Says whether there was one. Faults wait for their steps: the
    /// deletion at the end of a life has steps, too.
    pub(crate) fn hurry(self: &Arc<Self>) -> bool {
        let next = {
            let moves = &mut self.lock().moves;
            let act = moves.iter().position(|(_, what)| !matches!(what, Move::Fault(_)));
            act.and_then(|act| moves.remove(act))
        };
        next.map(|(_, what)| self.happen(what)).is_some()
    }

    fn happen(self: &Arc<Self>, what: Move) {
        self.disturb();
        match what {
            Move::Fault(_) => {}
            Move::Act(act) => self.act(act),
            Move::Watches(look) => self.end_watches(look),
            Move::Lease(fault) => {
                self.tell(Who::World, format_args!("the next request about the Lease goes wrong: {fault:?}"));
                self.lock().lease_fault = Some(fault);
            }
        }
    }

    /// Something happens that is not the sidecars' own doing: work may begin anew.
    pub(crate) fn disturb(&self) {
        self.lock().disturbed = Instant::now();
    }
}
