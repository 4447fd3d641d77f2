//! What the world must know of a kind of object.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use super::{Asked, Backend, DriverKind, Fault, Held, Scenario, Target, World};
use crate::{Machine, Request, Uid};

pub(crate) type EffectOf<K> = <<K as Kind>::Machine as Machine>::Effect;
pub(crate) type EventOf<K> = <<K as Kind>::Machine as Machine>::Event;

/// A kind of object, and what only its world knows.
pub(crate) trait Kind: Sized + Default + Debug
where
    EffectOf<Self>: Request + Clone + Debug + PartialEq,
{
    type View: Held;
    type Machine: Machine<View = Self::View> + Debug;
    /// What somebody does.
    type Op: Clone + Debug;

    /// The kinds of driver that matter.
    const DRIVERS: &'static [DriverKind];
    /// A driver of each class that lagging watches can make a difference for.
    const FEW_DRIVERS: &'static [DriverKind];
    /// Those that meet pairs of faults.
    const TWO_DRIVERS: &'static [DriverKind];
    /// How many points the sweep of pairs goes on at a time.
    const PAIRS_EVERY: usize;

    /// How often a shell looks again.
    const RECHECK: Duration;

    /// What users do; the moving operation may come at any point.
    fn scenarios() -> Vec<Scenario<Self::Op>>;

    /// What is at the backend before anything happens.
    fn prepare(_: &mut Backend) {}

    /// Under which key the machine of an object runs; `None` if it needs an object to have one.
    fn key(view: Option<&Self::View>) -> Option<Uid>;

    /// See the machine's `matters`.
    fn matters(before: Option<&Self::View>, after: Option<&Self::View>) -> bool;

    fn target(effect: &EffectOf<Self>) -> Target;

    /// Runs an effect.
    fn execute(world: &mut World<Self>, effect: &EffectOf<Self>, fault: Option<Fault>) -> EventOf<Self>;

    /// A write takes effect, though nobody waits for it any more. Returns whether it did.
    fn land(world: &mut World<Self>, write: &EffectOf<Self>) -> bool;

    /// Somebody writes to the object of a write just before.
    fn overtake(world: &mut World<Self>, write: &EffectOf<Self>);

    fn act(world: &mut World<Self>, op: &Self::Op);

    /// Whether what was done ends the wait after a refusal.
    fn interrupts(world: &World<Self>, op: &Self::Op) -> bool;

    /// What controllers do by themselves.
    fn others_act(_: &mut World<Self>) {}

    /// Before a request is sent.
    fn check_call(world: &mut World<Self>, asked: &Asked<'_>);

    /// When all has settled.
    fn judge(world: &mut World<Self>);

    /// The process is about to die.
    fn crashes(world: &mut World<Self>);

    /// How many API writes a fault may cost (I9).
    fn writes_per_fault(world: &World<Self>) -> usize;

    /// The object as a seeded bug shows it.
    fn distort(_: &World<Self>, view: Arc<Self::View>) -> Arc<Self::View> {
        view
    }

    /// The event, and the state before it, as a seeded bug has them.
    fn corrupt(_: &mut World<Self>, event: EventOf<Self>) -> EventOf<Self> {
        event
    }

    /// The next effect, or what a seeded bug makes of it.
    fn divert(_: &mut World<Self>, effect: EffectOf<Self>) -> EffectOf<Self> {
        effect
    }
}
