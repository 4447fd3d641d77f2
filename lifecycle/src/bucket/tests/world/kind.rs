//! Buckets as a kind of object.

use std::sync::Arc;
use std::time::Duration;

use super::{Buckets, EXISTING, NAME, Op, Scenario, World};
use crate::bucket::tests::scenarios;
use crate::bucket::{BucketState, BucketView, Effect, Event};
use crate::testing::{Asked, Backend, DriverKind, Fault, Kind, Target};
use crate::{Machine as _, Uid};

impl Kind for Buckets {
    type View = BucketView;
    type Machine = BucketState;
    type Op = Op;

    const DRIVERS: &'static [DriverKind] = &DriverKind::ALL;
    const FEW_DRIVERS: &'static [DriverKind] =
        &[DriverKind::GOOD, DriverKind::OPAQUE_BARE, DriverKind::SERIAL, DriverKind::NOT_FOUND_BARE];
    const TWO_DRIVERS: &'static [DriverKind] = &[DriverKind::GOOD, DriverKind::OPAQUE_BARE];
    const PAIRS_EVERY: usize = 5;
    const RECHECK: Duration = Duration::from_mins(10);

    fn scenarios() -> Vec<Scenario> {
        scenarios::all()
    }

    fn prepare(backend: &mut Backend) {
        backend.add_existing(EXISTING);
    }

    fn key(_: Option<&BucketView>) -> Option<Uid> {
        Some(NAME.into())
    }

    fn matters(before: Option<&BucketView>, after: Option<&BucketView>) -> bool {
        BucketView::matters(before, after)
    }

    fn target(effect: &Effect) -> Target {
        match effect {
            Effect::Read | Effect::ReadClaim(_) => Target::Read,
            Effect::WriteFinalizers { .. } | Effect::WriteStatus { .. } => Target::Write,
            Effect::Call(call) | Effect::LastWill(call) => Target::Call(call.rpc()),
            Effect::Tell(_) | Effect::Wait(_) | Effect::Done => Target::Person,
        }
    }

    fn execute(world: &mut World, effect: &Effect, fault: Option<Fault>) -> Event {
        world.execute(effect, fault)
    }

    fn land(world: &mut World, write: &Effect) -> bool {
        world.apply(write).is_ok()
    }

    fn overtake(world: &mut World, _: &Effect) {
        world.api.change(|o| o.labels += 1);
    }

    fn act(world: &mut World, op: &Op) {
        world.do_as(op);
    }

    fn interrupts(world: &World, op: &Op) -> bool {
        let deleting = world.api.object.as_ref().is_some_and(|o| o.view.deleting);
        matches!(op, Op::Delete | Op::Force | Op::LetGo) || (deleting && matches!(op, Op::ClaimGoes))
    }

    fn check_call(world: &mut World, asked: &Asked<'_>) {
        world.check_permission(asked);
    }

    fn judge(world: &mut World) {
        world.judge_all();
    }

    fn crashes(world: &mut World) {
        let guarded = world.api.object.as_ref().is_some_and(|o| o.view.finalizer);
        world.forced |= world.known.stripped && !guarded && !world.lane().state.is_empty();
    }

    fn writes_per_fault(_: &World) -> usize {
        2
    }

    fn distort(world: &World, view: Arc<BucketView>) -> Arc<BucketView> {
        world.distorted(view)
    }

    fn corrupt(world: &mut World, event: Event) -> Event {
        world.corrupted(event)
    }

    fn divert(world: &mut World, effect: Effect) -> Effect {
        world.diverted(effect)
    }
}
