//! A sidecar's writes to the API server.

use crate::rules::{Step, recorded};
use crate::world::{Object, Secret, Sent, View, Who, World, bit};
use crate::{Bounds, Rule, judge};

/// Whether the write is refused if the object was changed since it was read.
pub(crate) fn is_conditioned(bounds: &Bounds, step: Step) -> bool {
    match step {
        Step::Record => bounds.follows(Rule::ConditionedStatus),
        Step::Release => bounds.follows(Rule::DecideAgain) && bounds.follows(Rule::ConditionedFinalizers),
        Step::Intend => bounds.follows(Rule::ConditionedFinalizers),
        _ => true,
    }
}

/// The write takes effect, unless it is conditioned on a version that is no more.
pub(super) fn write(bounds: &Bounds, world: &mut World, who: Who, step: Step, view: View) -> bool {
    if view.stale && is_conditioned(bounds, step) {
        return false;
    }
    let answer = world.process(who).queue.answer;
    let hopeless = world.process(who).queue.hopeless;
    let before = world.object;
    match step {
        Step::Reserve => world.secret = Secret::Empty,
        Step::Fill(key) => world.secret = Secret::Key(key),
        Step::DropSecret => {
            judge::secret_goes(world);
            world.secret = Secret::None;
        }
        _ => {
            let Some(object) = &mut world.object else { return false };
            change(bounds, object, step, view, answer);
        }
    }
    judge::wrote(world, step, before, hopeless);
    world.collect();
    world.written(Some(who));
    true
}

fn change(bounds: &Bounds, object: &mut Object, step: Step, view: View, answer: Option<(u8, u8)>) {
    match step {
        Step::Intend => object.ours = true,
        Step::Release => object.ours = false,
        Step::Close => object.ready = false,
        Step::Record => {
            object.id = answer.map(|(id, _)| id);
            object.ready = true;
        }
        _ => {}
    }
    // The whole list is written, as it was read.
    let whole = matches!(step, Step::Intend | Step::Release) && !bounds.follows(Rule::ConditionedFinalizers);
    if let Some(read) = view.object.filter(|_| whole) {
        object.foreign = read.foreign;
    }
}

/// The process learns that its write succeeded.
pub(super) fn wrote(world: &mut World, who: Who, step: Step) {
    let object = world.object;
    let process = world.process_mut(who);
    match (step, object) {
        (Step::Intend, Some(object)) => {
            if process.queue.sent == Sent::Unknown {
                process.queue.sent = Sent::Nothing;
            }
            process.knows |= bit(object.uid);
        }
        (Step::Record, Some(object)) => recorded(&mut process.queue, object),
        (Step::Release, _) => process.queue.forget(),
        _ => {}
    }
}
