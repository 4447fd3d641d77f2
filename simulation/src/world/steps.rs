//! Steps: where the schedule meets the run.

use std::sync::Arc;

use tokio::time::Instant;

use super::{Sort, World};
use crate::schedule::{ApiFault, Death, Fault, Move};
use crate::trace::Who;

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
        let mut fault = None;
        let mut waits = Vec::new();
        while let Some((at, due)) = self.due(number) {
            match due {
                Move::Fault(due) if fits(due, sort) && fault.is_none() => fault = Some(due),
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
        }
    }

    /// Something happens that is not the sidecars' own doing: work may begin anew.
    pub(crate) fn disturb(&self) {
        self.lock().disturbed = Instant::now();
    }
}

/// Whether such a fault can be one of such a step.
fn fits(fault: Fault, sort: Sort) -> bool {
    match fault {
        Fault::Api(ApiFault::AnswerLost | ApiFault::DoneBut(_)) => sort == Sort::Write,
        Fault::Call(_) | Fault::Death(Death::During(_)) => sort == Sort::Call,
        Fault::Api(_) | Fault::Pause(_) => sort != Sort::Call,
        Fault::Death(_) => true,
    }
}
