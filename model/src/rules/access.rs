//! The rules of accesses, where they differ from those of Buckets. The Buckets that are accessed are taken to be there.

use super::{Step, fenced, find_intent, gate, making, own, recorded, undo};
use crate::world::{Object, Queue, Secret};
use crate::{Bounds, Rule};

pub(super) fn decide(bounds: &Bounds, queue: &mut Queue, object: Option<Object>, secret: Secret) -> Step {
    let Some(object) = object else { return after_owner(bounds, queue, secret) };
    own(queue, object);
    match (object.deleting, object.ours) {
        (true, _) => delete(bounds, queue, object, secret),
        (false, false) => Step::Intend,
        (false, true) => provide(bounds, queue, object, secret),
    }
}

/// R12: what is not recorded is revoked, and so is an account whose access was seen deleting. The Secret goes in any case.
fn after_owner(bounds: &Bounds, queue: &mut Queue, secret: Secret) -> Step {
    if queue.owner == 0 {
        queue.forget();
        return Step::Wait;
    }
    if secret != Secret::None {
        return Step::DropSecret;
    }
    let recorded = queue.recorded.is_some() && !queue.gone;
    let to_undo = queue.may_be_there() || (recorded && queue.deleting);
    if to_undo
        && !queue.hopeless
        && bounds.follows(Rule::GoneByForce)
        && let Some(call) = undo(bounds, queue)
    {
        return gate(bounds, queue, call);
    }
    if queue.gone || !fenced(bounds, queue) {
        queue.forget();
    }
    Step::Wait
}

/// A live access: make it Ready, and keep it so.
fn provide(bounds: &Bounds, queue: &mut Queue, object: Object, secret: Secret) -> Step {
    let filled = |(_, key): (u8, u8)| secret == Secret::Key(key);
    if object.ready {
        let current = queue.answer.map_or(!queue.outdated, filled);
        if !current {
            return Step::Close;
        }
        recorded(queue, object);
        return if matches!(secret, Secret::Key(_)) { Step::Wait } else { Step::Close };
    }
    find_intent(bounds, queue);
    if let Some(answer) = queue.answer {
        return match secret {
            _ if filled(answer) => Step::Record,
            Secret::None => Step::Reserve,
            _ => Step::Fill(answer.1),
        };
    }
    match gate(bounds, queue, making(bounds, queue)) {
        Step::Call(_) if secret == Secret::None => Step::Reserve,
        step => step,
    }
}

/// Not ready, Secret gone, account gone, then the controller is told.
fn delete(bounds: &Bounds, queue: &mut Queue, object: Object, secret: Secret) -> Step {
    if object.ready {
        return Step::Close;
    }
    if bounds.follows(Rule::FillFirst) {
        find_intent(bounds, queue);
    }
    if secret != Secret::None {
        return Step::DropSecret;
    }
    find_intent(bounds, queue);
    let may_leave = queue.gone || queue.hopeless;
    if !may_leave && let Some(call) = undo(bounds, queue) {
        return gate(bounds, queue, call);
    }
    if !queue.gone && fenced(bounds, queue) { Step::Wait } else { Step::Release }
}
