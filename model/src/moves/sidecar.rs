//! What sidecars do.

use super::Action;
use super::write::{write, wrote};
use crate::rules::{Step, decide};
use crate::world::{Call, Fence, Flight, Phase, Process, Role, Sent, Stage, Waiter, Who, World, bit};
use crate::{Bounds, Invariant, Rule, judge};

/// What this process may do next.
pub(super) fn progress(bounds: &Bounds, world: &World, who: Who, actions: &mut Vec<Action>) {
    let process = world.process(who);
    let next = match (process.role, process.phase) {
        (Role::Standby { .. }, _) if may_be_taken(bounds, world) => Some(Action::Take(who)),
        (Role::Leader, Phase::Idle) if look_matters(bounds, world, process) => Some(Action::Look(who)),
        (Role::Leader | Role::Lapsed, Phase::Looked(_)) => Some(Action::Act(who)),
        (Role::Leader, Phase::Cleared { call, .. }) if is_kept_waiting(bounds, world, process, call) => None,
        (Role::Leader | Role::Lapsed, Phase::Cleared { .. }) => Some(Action::Send(who)),
        (Role::Lapsed, Phase::Idle) if has_a_will(bounds, process) => Some(Action::Will(who)),
        (Role::Lapsed, Phase::Idle) => Some(Action::Exit(who)),
        _ => None,
    };
    actions.extend(next);
    // What it was about to write may be lost, too.
    if process.role == Role::Lapsed && matches!(process.phase, Phase::Looked(_)) {
        actions.push(Action::Exit(who));
    }
    if process.role == Role::Leader {
        fences_that_fall(bounds, world, who, actions);
    }
}

/// The lease is free, and what its last holder sent has arrived, unless that one is paused.
fn may_be_taken(bounds: &Bounds, world: &World) -> bool {
    let sends = |process: &Process| process.role == Role::Lapsed && matches!(process.phase, Phase::Looked(_));
    world.lease.is_none() && (bounds.pauses || ![world.a, world.b].iter().any(sends))
}

/// A look leads to a step, or to knowledge.
fn look_matters(bounds: &Bounds, world: &World, process: &Process) -> bool {
    let mut queue = process.queue;
    let step = decide(bounds, &mut queue, world.object, world.secret);
    step != Step::Wait || queue != process.queue
}

/// The driver answered ABORTED to this call and is still at work: it would say so again.
fn is_kept_waiting(bounds: &Bounds, world: &World, process: &Process, call: Call) -> bool {
    bounds.driver.serialises
        && process.queue.grace == Fence::UpExcept(call.rpc)
        && world.flights.all().any(|flight| flight.stage != Stage::Transit)
}

/// Only an id that an own Create was answered with is deleted without the lease, and only by policy Delete.
fn has_a_will(bounds: &Bounds, process: &Process) -> bool {
    bounds.follows(Rule::LastWill) && process.queue.ids & !process.queue.deleted != 0 && !process.queue.retain
}

/// A fence is as long as any call that it is about can be at work. Of a driver that serialises only what is on its way ends in
/// time; what is at work may take longer, and is answered ABORTED for.
fn fences_that_fall(bounds: &Bounds, world: &World, who: Who, actions: &mut Vec<Action>) {
    let queue = &world.process(who).queue;
    let lasts =
        |flight: &Flight| !flight.late && (!bounds.driver.serialises || flight.stage == Stage::Transit);
    let own = |flight: &Flight| flight.sender == who && flight.waiter == Waiter::Nobody;
    let busy = matches!(queue.grace, Fence::UpExcept(_))
        && world.flights.all().any(|flight| flight.stage != Stage::Transit);
    if queue.grace != Fence::Down && !busy && !world.flights.all().any(|f| own(&f) && lasts(&f)) {
        actions.push(Action::GraceOver(who));
    }
    let predecessors = |flight: &Flight| flight.sender != who || flight.waiter == Waiter::Orphaned;
    if queue.succeeded && !world.flights.all().any(|f| predecessors(&f) && lasts(&f)) {
        actions.push(Action::SuccessionOver(who));
    }
}

pub(super) fn acts(bounds: &Bounds, world: &mut World, action: Action) {
    match action {
        Action::Take(who) => take(bounds, world, who),
        Action::Look(who) => look(bounds, world, who),
        Action::Act(who) => act(bounds, world, who, true),
        Action::Send(who) => send(world, who),
        Action::GraceOver(who) => world.process_mut(who).queue.grace = Fence::Down,
        Action::SuccessionOver(who) => {
            let queue = &mut world.process_mut(who).queue;
            queue.succeeded = false;
            queue.inherited = Fence::Down;
        }
        Action::Will(who) => will(bounds, world, who),
        Action::Exit(who) => exit(world, who),
        _ => {}
    }
}

fn take(bounds: &Bounds, world: &mut World, who: Who) {
    world.lease = Some(who);
    let process = world.process_mut(who);
    let old = process.role == Role::Standby { fresh: false };
    process.role = Role::Leader;
    // The wait is counted from here. Counted from the start of the process, it would be over for a hot standby.
    process.queue.succeeded = bounds.follows(Rule::SinceLeaseTaken) || !old;
}

fn look(bounds: &Bounds, world: &mut World, who: Who) {
    let view = world.view();
    let process = world.process_mut(who);
    let step = decide(bounds, &mut process.queue, view.object, view.secret);
    process.phase = if step == Step::Wait { Phase::Idle } else { Phase::Looked(view) };
    if let Some(object) = view.object.filter(|object| object.ours) {
        process.knows |= bit(object.uid);
    }
}

/// Does what follows from the last look. A leader that has lost its lease begins nothing, but a write of its may be on its way.
pub(super) fn act(bounds: &Bounds, world: &mut World, who: Who, answered: bool) {
    let process = world.process_mut(who);
    let Phase::Looked(view) = process.phase else { return };
    process.phase = Phase::Idle;
    let mut queue = process.queue;
    let step = decide(bounds, &mut queue, view.object, view.secret);
    match step {
        Step::Call(_) if process.role != Role::Leader => {}
        Step::Call(call) => {
            process.queue = queue;
            process.phase = Phase::Cleared { call, will: false };
            judge::decided(world, call, view);
        }
        Step::Wait => process.queue = queue,
        step if write(bounds, world, who, step, view) && answered => {
            wrote(world, who, step);
        }
        _ => {}
    }
}

/// The step that a look led to.
pub(crate) fn intended(bounds: &Bounds, world: &World, who: Who) -> Step {
    let process = world.process(who);
    let Phase::Looked(view) = process.phase else { return Step::Wait };
    decide(bounds, &mut process.queue.clone(), view.object, view.secret)
}

/// The request leaves. Something may be there from now on (R6).
fn send(world: &mut World, who: Who) {
    let process = world.process_mut(who);
    let Phase::Cleared { call, will } = process.phase else { return };
    process.phase = Phase::Waiting;
    if call.makes() {
        process.queue.before = process.queue.sent;
        process.queue.sent = Sent::Maybe;
        process.queue.outdated = call.rpc == cosi_lifecycle::Rpc::GrantBucketAccess;
    }
    let late = process.role == Role::Lapsed;
    let (stage, waiter) = (Stage::Transit, Waiter::Sender);
    let flight = Flight { call, stage, sender: who, waiter, expired: late && !will, late, will };
    if !world.flights.add(flight) {
        world.violate(Invariant::Room);
    }
}

/// R15: nobody else will ever know of what an own Create made for an object that is gone.
fn will(bounds: &Bounds, world: &mut World, who: Who) {
    let gone = world.object.is_none();
    let process = world.process_mut(who);
    let ids = process.queue.ids & !process.queue.deleted;
    if !gone {
        process.queue.ids = 0;
        return;
    }
    let id = u8::try_from(ids.trailing_zeros()).unwrap_or_default();
    let call = Call { rpc: crate::rules::by_id(bounds.kind), uid: process.queue.owner, id, replay: false };
    process.phase = Phase::Cleared { call, will: true };
}

/// What it knew is lost.
pub(super) fn exit(world: &mut World, who: Who) {
    judge::forgotten(world, who);
    *world.process_mut(who) = Process::started(true);
    world.flights.change_all(|flight| {
        if flight.sender == who {
            flight.waiter = Waiter::Orphaned;
        }
    });
    if world.lease == Some(who) {
        world.lease = None;
    }
}
