//! What can happen next, and what it does.

mod driver;
mod fault;
mod sidecar;

mod user;
mod write;

pub(crate) use sidecar::intended;
pub(crate) use write::is_conditioned;

use crate::world::{Who, World};
use crate::{Bounds, judge};

/// One atomic step of somebody. Calls are named by their number in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A standby takes the lease.
    Take(Who),
    /// A leader reads its object.
    Look(Who),
    /// It does what follows from that: a write, or the decision for a call.
    Act(Who),
    /// The request leaves.
    Send(Who),
    /// The grace after an unknown outcome is over.
    GraceOver(Who),
    /// A deadline and a grace have passed since the lease was taken.
    SuccessionOver(Who),
    /// A leader without its lease looks whether its last will is needed (R15).
    Will(Who),
    /// A leader without its lease ends, and is started again.
    Exit(Who),
    /// A request arrives at the driver.
    Arrive(u8),
    /// A call takes effect and is answered, if somebody waits.
    Land(u8),
    /// A call that nobody waits for ends without effect.
    Vanish(u8),
    Fault(Fault),
    User(User),
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A process dies and is started again.
    Crash(Who),
    /// A leader's term is over and it has not noticed.
    Lapse(Who),
    /// A write takes effect, and its answer is lost.
    LoseWriteAnswer(Who),
    /// The sender gets no answer; the call goes on, or never arrives.
    GiveUp(u8),
    /// The driver answers INTERNAL and goes on.
    AnswerError(u8),
    /// The call takes effect, and its answer is lost.
    LoseAnswer(u8),
    /// Something was made, and the driver answers PERMISSION_DENIED.
    HalfDone(u8),
    /// The driver answers PERMISSION_DENIED and does nothing.
    Refuse(u8),
}

/// What people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Delete,
    Strip,
    Recreate { with_finalizer: bool },
    Flip,
    Hold,
    Unhold,
    DropSecret,
}

/// What follows by itself from what happened. Without any of it, all has settled.
pub(crate) fn progress(bounds: &Bounds, world: &World, actions: &mut Vec<Action>) {
    for who in everybody(bounds) {
        sidecar::progress(bounds, world, *who, actions);
    }
    driver::progress(world, actions);
}

/// What may happen besides.
pub(crate) fn trouble(bounds: &Bounds, world: &World, actions: &mut Vec<Action>) {
    for who in everybody(bounds) {
        fault::of_process(bounds, world, *who, actions);
    }
    fault::of_calls(world, actions);
    user::all(world, actions);
}

pub(crate) const fn everybody(bounds: &Bounds) -> &'static [Who] {
    if bounds.standby { &[Who::A, Who::B] } else { &[Who::A] }
}

/// The world after `action`.
pub(crate) fn after(bounds: &Bounds, world: &World, action: Action) -> World {
    let mut next = *world;
    next.steps = next.steps.saturating_add(1);
    match action {
        Action::Fault(fault) => {
            next.steps = 0;
            fault::happens(bounds, &mut next, fault);
        }
        Action::User(user) => {
            next.steps = 0;
            user::acts(&mut next, user);
        }
        Action::Arrive(number) => driver::arrive(bounds, &mut next, number),
        Action::Land(number) => driver::land(bounds, &mut next, number, driver::Answer::Ok),
        Action::Vanish(number) => next.flights.remove(number),
        _ => sidecar::acts(bounds, &mut next, action),
    }
    judge::settled(bounds, &mut next);
    next
}
