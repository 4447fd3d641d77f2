//! The oracles: they look at the API server, the driver and the backend, never at what a sidecar believes.

use crate::Invariant::{NoDouble, NoLoss, NoOrphan, NothingForeign, OneAtATime, Progress, Truth};
use crate::moves::{Action, progress};
use crate::rules::Step;
use crate::world::{Call, Flight, Object, Secret, Stage, Thing, Uid, View, Waiter, Who, World, bit};
use crate::{Bounds, Kind};

/// A leader decided to send this, having seen that. A deletion needs an owner that wants it, or one that is gone without an heir
/// (I3); what is Ready is not made again (I2).
pub(crate) fn decided(world: &mut World, call: Call, view: View) {
    let allowed = match view.object {
        Some(object) if object.uid == call.uid => object.deleting && !object.retain,
        Some(heir) => !heir.ours,
        None => true,
    };
    if !call.makes() && !allowed {
        world.violate(NoLoss);
    }
    if call.makes() && !call.replay && view.object.is_some_and(|object| object.ready) {
        world.violate(NoDouble);
    }
}

/// The driver begins this. Only one call for a name may be at work (I8), and none may make what is there or was deleted (I2).
pub(crate) fn accepted(world: &mut World, flight: Flight) {
    let call = flight.call;
    let excused = |world: &World, uid: Uid| world.fate(uid).excused();
    let harmless = |other: &Flight| {
        let across_leaders =
            other.sender != flight.sender || [other.waiter, flight.waiter].contains(&Waiter::Orphaned);
        (across_leaders && !call.makes() && !other.call.makes())
            || other.will
            || excused(world, other.call.uid)
    };
    let at_work = world.flights.all().any(|other| other.stage != Stage::Transit && !harmless(&other));
    let provides = call.makes() && !call.replay;
    let ready = world.object_of(call.uid).is_some_and(|object| object.ready);
    // A predecessor's write can make it Ready after the last look; only what comes late is a breach.
    let again = provides && ((ready && flight.late) || world.fate(call.uid).acknowledged);
    if excused(world, call.uid) {
        return;
    }
    if at_work && !flight.will {
        world.violate(OneAtATime);
    }
    if again {
        world.violate(NoDouble);
    }
}

/// A thing is made for the call's owner (I2).
pub(crate) fn makes(world: &mut World, call: Call, id: u8) {
    // What was done to one object by force strikes the other one under its name.
    let (own, excused) = (call.uid, world.fate(call.uid).excused());
    let others: Vec<(u8, Thing)> = world.backend.things().filter(|(_, thing)| thing.by != own).collect();
    for (there, thing) in others {
        if excused {
            world.fate_mut(thing.by).stripped_unseen = true;
        } else if there != id && world.fate(thing.by).excused() {
            world.fate_mut(own).stripped_unseen = true;
        }
    }
    let twice = world.backend.things().any(|(there, thing)| there != id && thing.by == own);
    if twice && !world.fate(own).excused() {
        world.violate(NoDouble);
    }
}

/// A thing was taken away (I3).
pub(crate) fn taken(world: &mut World, call: Call, thing: Thing) {
    let wanted = world.object_of(thing.by).is_some_and(|object| !object.deleting);
    if !wanted {
        return;
    }
    if world.fate(call.uid).excused() || world.fate(thing.by).excused() {
        world.fate_mut(thing.by).stripped_unseen = true;
    } else {
        world.violate(NoLoss);
    }
}

/// The Secret is deleted: by then the access must say that it is not ready (I5).
pub(crate) fn secret_goes(world: &mut World) {
    if world.object.is_some_and(|object| object.ready) {
        world.violate(Truth);
    }
}

/// A sidecar's write took effect; `before` is the object before it.
pub(crate) fn wrote(world: &mut World, step: Step, before: Option<Object>, hopeless: bool) {
    let Some((before, object)) = before.zip(world.object) else { return };
    if before.foreign && !object.foreign {
        world.violate(NothingForeign);
    }
    match step {
        Step::Intend => world.fate_mut(object.uid).stripped_ready = false,
        Step::Record => {
            let made = object.id.and_then(|id| world.backend.thing(id));
            let own = made.is_some_and(|thing| thing.by == object.uid);
            if !own && !world.fate(object.uid).excused() {
                world.violate(Truth);
            }
        }
        Step::Release => {
            let fate = world.fate_mut(object.uid);
            fate.released = true;
            fate.retained |= object.retain;
            fate.let_go |= hopeless;
        }
        _ => {}
    }
}

/// Our finalizer was taken by force. If the object was Ready, or nobody acts who knows of its intent, a sidecar can't make it
/// good.
pub(crate) fn stripped(world: &mut World, object: Object) {
    let known = world.lease.is_some_and(|leader| world.process(leader).knows & bit(object.uid) != 0);
    let at_stake = at_stake(world, object.uid);
    let fate = world.fate_mut(object.uid);
    fate.stripped_ready |= object.id.is_some();
    fate.stripped_unseen |= !object.ready && !known && at_stake;
}

/// A process ends, and with it what only it knew of objects that lost their finalizer by force.
pub(crate) fn forgotten(world: &mut World, who: Who) {
    let saw = world.process(who).knows;
    for uid in [1, 2].into_iter().filter(|uid| saw & bit(*uid) != 0) {
        let safe = world.object_of(uid).is_some_and(|object| object.ours || object.ready);
        let successor = world.lease.filter(|leader| *leader != who);
        let known = successor.is_some_and(|leader| world.process(leader).knows & bit(uid) != 0);
        if !safe && !known && !world.fate(uid).released && at_stake(world, uid) {
            world.fate_mut(uid).stripped_unseen = true;
        }
    }
}

/// Something of this object is at the backend, or may come to be there.
fn at_stake(world: &World, uid: Uid) -> bool {
    world.secret != Secret::None
        || world.backend.things().any(|(_, thing)| thing.by == uid)
        || world.flights.all().any(|flight| flight.call.uid == uid)
}

/// When nothing more follows by itself, all must be as it should be.
pub(crate) fn settled(bounds: &Bounds, world: &mut World) {
    if world.steps > bounds.patience {
        world.violate(Progress);
    }
    if world.flights.all().next().is_none() && world.lease.is_some() {
        let mut left: Vec<Action> = Vec::new();
        progress(bounds, world, &mut left);
        if left.is_empty() {
            judge_things(world);
            judge_object(bounds, world);
        }
    }
    world.broken &= bounds.only.map_or(u8::MAX, crate::Invariant::bit);
}

/// I1: each thing has its owner, or somebody was told.
fn judge_things(world: &mut World) {
    let orphan = |(id, thing): (u8, Thing)| {
        let fate = world.fate(thing.by);
        let owned = world
            .object_of(thing.by)
            .is_some_and(|o| (o.ours || !o.deleting) && o.id.is_none_or(|known| known == id));
        !(owned || fate.retained || fate.let_go || fate.excused())
    };
    if world.backend.things().any(orphan) {
        world.violate(NoOrphan);
    }
}

/// I5 and I6: the desired state is reached, and it is true.
fn judge_object(bounds: &Bounds, world: &mut World) {
    let blocked = world.lease.is_some_and(|leader| world.process(leader).queue.blocked);
    let Some(object) = world.object else {
        if world.secret != Secret::None && !world.first.excused() {
            world.violate(Progress);
        }
        return;
    };
    let reached = if object.deleting { !object.ours } else { object.ours && object.ready };
    if !reached && !blocked {
        world.violate(Progress);
    }
    let there = object.id.and_then(|id| world.backend.thing(id));
    let works = |thing: Thing| bounds.kind == Kind::Bucket || world.secret == Secret::Key(thing.key);
    if object.ready && !object.deleting && !there.is_some_and(works) && !world.fate(object.uid).excused() {
        world.violate(Truth);
    }
}
