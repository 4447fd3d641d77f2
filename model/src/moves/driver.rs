//! What the driver and the backend do.

use cosi_lifecycle::{Code, Failure};

use super::Action;
use crate::rules::answered;
use crate::world::{Call, Flight, Phase, Stage, Thing, Waiter, World};
use crate::{Bounds, Invariant, Kind, NotAfter, judge};

/// How a call that took effect is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Ok,
    Lost,
    Denied,
}

pub(super) fn progress(world: &World, actions: &mut Vec<Action>) {
    for (number, flight) in world.flights.numbered() {
        actions.push(match flight.stage {
            Stage::Transit => Action::Arrive(number),
            Stage::Working { .. } => Action::Land(number),
        });
        if flight.waiter != Waiter::Sender {
            actions.push(Action::Vanish(number));
        }
    }
}

/// The driver takes the request, or refuses it.
pub(super) fn arrive(bounds: &Bounds, world: &mut World, number: u8) {
    let Some(flight) = world.flights.get(number) else { return };
    let call = flight.call;
    if let Some(code) = refusal(bounds, world, flight) {
        world.flights.remove(number);
        tell(bounds, world, flight, Err(&refused(code)));
        return;
    }
    judge::accepted(world, flight);
    let (id, key) = if call.makes() { choose(bounds, world) } else { (call.id, 0) };
    world.flights.change(number, |flight| flight.stage = Stage::Working { id, key });
}

fn refusal(bounds: &Bounds, world: &World, flight: Flight) -> Option<Code> {
    let call = flight.call;
    let too_late = flight.expired
        && bounds.follows(crate::Rule::NotAfterLeaseEnd)
        && match bounds.driver.not_after {
            NotAfter::Every => true,
            NotAfter::Making => call.makes(),
            NotAfter::Ignored => false,
        };
    let busy = bounds.driver.serialises && world.flights.all().any(|other| other.stage != Stage::Transit);
    if too_late {
        Some(Code::FailedPrecondition)
    } else if busy {
        Some(Code::Aborted)
    } else if call.makes() && world.backend.foreign {
        Some(Code::AlreadyExists)
    } else {
        None
    }
}

/// The id is settled when the request arrives: that of what is there, or a new one.
fn choose(bounds: &Bounds, world: &mut World) -> (u8, u8) {
    let key = world.backend.next_key;
    if bounds.kind == Kind::Access {
        world.backend.next_key += 1;
    }
    if let Some((id, _)) = world.backend.things().next() {
        return (id, key);
    }
    let id = world.backend.next_id;
    if bounds.driver.opaque {
        world.backend.next_id += 1;
    }
    (id, key)
}

/// The call takes effect.
pub(super) fn land(bounds: &Bounds, world: &mut World, number: u8, answer: Answer) {
    let Some(flight) = world.flights.get(number) else { return };
    let Stage::Working { id, key } = flight.stage else { return };
    world.flights.remove(number);
    take_effect(bounds, world, flight.call, id, key);
    match answer {
        Answer::Ok => tell(bounds, world, flight, Ok((id, key))),
        Answer::Lost => tell(bounds, world, flight, Err(&no_answer())),
        Answer::Denied => tell(bounds, world, flight, Err(&refused(Code::PermissionDenied))),
    }
}

fn take_effect(bounds: &Bounds, world: &mut World, call: Call, id: u8, key: u8) {
    if call.makes() {
        judge::makes(world, call, id);
        if !world.backend.put(id, Thing { by: call.uid, key }) {
            world.violate(Invariant::Room);
        }
        return;
    }
    let by_name = crate::rules::by_name(bounds.kind) == call.rpc;
    let all: Vec<u8> = world.backend.things().map(|(id, _)| id).collect();
    for there in all.into_iter().filter(|there| by_name || *there == call.id) {
        if let Some(thing) = world.backend.take(there) {
            judge::taken(world, call, thing);
        }
    }
    if by_name && bounds.driver.takes_foreign && std::mem::take(&mut world.backend.foreign) {
        world.violate(Invariant::NothingForeign);
    }
}

/// The sender hears of it, if it waits.
pub(super) fn tell(bounds: &Bounds, world: &mut World, flight: Flight, result: Result<(u8, u8), &Failure>) {
    if flight.waiter != Waiter::Sender {
        return;
    }
    if result.is_ok() && !flight.call.makes() && !flight.will {
        world.fate_mut(flight.call.uid).acknowledged = true;
    }
    let process = world.process_mut(flight.sender);
    process.phase = Phase::Idle;
    answered(bounds, &mut process.queue, flight.call, result);
    if flight.will {
        // There is no time to try again.
        process.queue.ids = 0;
    }
}

pub(super) fn refused(code: Code) -> Failure {
    Failure::Answered { code, message: String::new() }
}

pub(super) fn no_answer() -> Failure {
    Failure::NoAnswer { code: Code::DeadlineExceeded, message: String::new() }
}
