//! Accesses as a kind of object.

use std::sync::Arc;
use std::time::Duration;

use super::{Accesses, Op, Scenario, World};
use crate::access::tests::scenarios;
use crate::access::{AccessState, AccessView, Effect, Event};
use crate::testing::Keys::{Piling, Rotating};
use crate::testing::{Asked, DriverKind, Fault, Kind, Target};
use crate::{Machine as _, Uid};

impl Kind for Accesses {
    type View = AccessView;
    type Machine = AccessState;
    type Op = Op;

    const DRIVERS: &'static [DriverKind] = &[
        DriverKind::OPAQUE_BARE.with(Rotating),
        DriverKind::GOOD.with(Rotating),
        DriverKind::OPAQUE,
        DriverKind::BARE.with(Piling),
        DriverKind::SERIAL.with(Rotating),
        DriverKind::NOT_FOUND_BARE.with(Piling),
    ];
    const FEW_DRIVERS: &'static [DriverKind] = &[DriverKind::OPAQUE.with(Rotating)];
    const TWO_DRIVERS: &'static [DriverKind] = &[DriverKind::GOOD.with(Rotating)];
    const PAIRS_EVERY: usize = 151;
    const RECHECK: Duration = Duration::from_mins(2);

    fn scenarios() -> Vec<Scenario> {
        scenarios::all()
    }

    fn key(view: Option<&AccessView>) -> Option<Uid> {
        view.map(|v| Arc::clone(&v.uid))
    }

    fn matters(before: Option<&AccessView>, after: Option<&AccessView>) -> bool {
        AccessView::matters(before, after)
    }

    fn target(effect: &Effect) -> Target {
        match effect {
            Effect::Read(_) | Effect::ReadBuckets(_) | Effect::ReadSecret(_) => Target::Read,
            Effect::WriteFinalizers { .. }
            | Effect::WriteCleanupFinished { .. }
            | Effect::WriteStatus { .. }
            | Effect::WriteSecret { .. }
            | Effect::ReleaseSecret { .. }
            | Effect::DeleteSecret(_) => Target::Write,
            Effect::CreateSecret { .. } => Target::Create,
            Effect::Call(call) | Effect::LastWill(call) => Target::Call(call.rpc()),
            Effect::Tell(_) | Effect::Wait(_) | Effect::Done => Target::Person,
        }
    }

    fn execute(world: &mut World, effect: &Effect, fault: Option<Fault>) -> Event {
        world.execute(effect, fault)
    }

    fn land(world: &mut World, write: &Effect) -> bool {
        world.land(write)
    }

    fn overtake(world: &mut World, write: &Effect) {
        match write {
            Effect::WriteSecret { secret, .. }
            | Effect::ReleaseSecret { secret, .. }
            | Effect::DeleteSecret(secret) => {
                world.change_secret(&secret.place.name, |s| s.labels += 1);
            }
            _ => drop(world.api.change(|o| o.labels += 1)),
        }
    }

    fn act(world: &mut World, op: &Op) {
        world.do_as(op);
    }

    fn interrupts(_: &World, op: &Op) -> bool {
        matches!(op, Op::Delete | Op::Force | Op::LetGo)
    }

    fn others_act(world: &mut World) {
        world.let_controller_act();
        world.collect_garbage();
    }

    fn check_call(world: &mut World, asked: &Asked<'_>) {
        world.check_permission(asked);
    }

    fn judge(world: &mut World) {
        world.judge_all();
    }

    fn crashes(world: &mut World) {
        let alive = world.api.object.as_ref().map(|o| Arc::clone(&o.view.uid));
        let rest = world.lanes.iter().any(|lane| {
            Some(&lane.key) != alive.as_ref() && (lane.index.is_some() || !lane.state.is_empty())
        });
        world.known.died = true;
        world.forced |= rest;
        world.known.secrets_forgotten |= rest;
    }

    fn writes_per_fault(world: &World) -> usize {
        world.api.object.as_ref().map_or(6, |o| 2 + 2 * o.view.wishes.len())
    }

    fn distort(world: &World, view: Arc<AccessView>) -> Arc<AccessView> {
        world.distorted(view)
    }

    fn corrupt(world: &mut World, event: Event) -> Event {
        world.corrupted(event)
    }

    fn divert(world: &mut World, effect: Effect) -> Effect {
        world.diverted(effect)
    }
}
