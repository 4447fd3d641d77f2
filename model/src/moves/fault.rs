//! What goes wrong.

use cosi_lifecycle::Code;

use super::driver::{self, Answer, no_answer, refused};
use super::{Action, Fault, sidecar};
use crate::world::{Phase, Role, Stage, Waiter, Who, World};
use crate::{Bounds, judge};

pub(super) fn of_process(bounds: &Bounds, world: &World, who: Who, actions: &mut Vec<Action>) {
    let process = world.process(who);
    let acts = !matches!(process.role, Role::Standby { .. });
    if world.left.crashes > 0 && acts {
        actions.push(Action::Fault(Fault::Crash(who)));
    }
    if world.left.lapses > 0 && process.role == Role::Leader {
        actions.push(Action::Fault(Fault::Lapse(who)));
    }
    if world.left.writes > 0
        && matches!(process.phase, Phase::Looked(view) if !view.stale)
        && sidecar::intended(bounds, world, who).writes()
    {
        actions.push(Action::Fault(Fault::LoseWriteAnswer(who)));
    }
}

pub(super) fn of_calls(world: &World, actions: &mut Vec<Action>) {
    if world.left.calls == 0 {
        return;
    }
    for (number, flight) in world.flights.numbered().filter(|(_, f)| f.waiter == Waiter::Sender) {
        actions.push(Action::Fault(Fault::GiveUp(number)));
        if flight.stage == Stage::Transit {
            actions.push(Action::Fault(Fault::Refuse(number)));
            continue;
        }
        actions.push(Action::Fault(Fault::AnswerError(number)));
        actions.push(Action::Fault(Fault::LoseAnswer(number)));
        if flight.call.makes() {
            actions.push(Action::Fault(Fault::HalfDone(number)));
        }
    }
}

pub(super) fn happens(bounds: &Bounds, world: &mut World, fault: Fault) {
    match fault {
        Fault::Crash(who) => {
            world.left.crashes -= 1;
            sidecar::exit(world, who);
        }
        Fault::Lapse(who) => {
            world.left.lapses -= 1;
            lapse(bounds, world, who);
        }
        Fault::LoseWriteAnswer(who) => {
            world.left.writes -= 1;
            sidecar::act(bounds, world, who, false);
        }
        Fault::GiveUp(number) => ends_early(bounds, world, number, &no_answer(), true),
        Fault::AnswerError(number) => ends_early(bounds, world, number, &refused(Code::Internal), true),
        Fault::Refuse(number) => ends_early(bounds, world, number, &refused(Code::PermissionDenied), false),
        Fault::LoseAnswer(number) => lands(bounds, world, number, Answer::Lost),
        Fault::HalfDone(number) => lands(bounds, world, number, Answer::Denied),
    }
}

/// The lease may be taken by another one from now on. What the leader had sent keeps its deadline; what it sends now is late.
fn lapse(bounds: &Bounds, world: &mut World, who: Who) {
    judge::forgotten(world, who);
    world.lease = None;
    let process = world.process_mut(who);
    process.role = Role::Lapsed;
    if !bounds.pauses && matches!(process.phase, Phase::Cleared { .. }) {
        process.phase = Phase::Idle;
    }
    world.flights.change_all(|flight| {
        if flight.sender == who {
            flight.expired |= flight.stage == Stage::Transit;
            if flight.waiter == Waiter::Nobody {
                flight.waiter = Waiter::Orphaned;
            }
        }
    });
}

/// The call has ended for its sender, and goes on at the driver or not.
fn ends_early(
    bounds: &Bounds,
    world: &mut World,
    number: u8,
    failure: &cosi_lifecycle::Failure,
    goes_on: bool,
) {
    world.left.calls -= 1;
    let Some(flight) = world.flights.get(number) else { return };
    if goes_on {
        // A successor of a leader that lost its lease counts it among its predecessor's.
        let lapsed = world.process(flight.sender).role == Role::Lapsed;
        let waiter = if lapsed { Waiter::Orphaned } else { Waiter::Nobody };
        world.flights.change(number, |flight| flight.waiter = waiter);
    } else {
        world.flights.remove(number);
    }
    driver::tell(bounds, world, flight, Err(failure));
}

fn lands(bounds: &Bounds, world: &mut World, number: u8, answer: Answer) {
    world.left.calls -= 1;
    driver::land(bounds, world, number, answer);
}
