//! The rules of Buckets.

use super::{Step, fenced, find_intent, gate, making, own, recorded, rpcs, undo};
use crate::world::{Fence, Object, Queue, Sent};
use crate::{Bounds, Rule};

pub(super) fn decide(bounds: &Bounds, queue: &mut Queue, object: Option<Object>) -> Step {
    if owner_is_gone(queue, object)
        && let Some(step) = after_owner(bounds, queue, object)
    {
        return step;
    }
    let Some(object) = object else {
        queue.forget();
        return Step::Wait;
    };
    own(queue, object);
    match (object.deleting, object.ours) {
        // R1: nothing is sent before the finalizer is there.
        (false, false) if bounds.follows(Rule::Intent) => Step::Intend,
        (false, _) => provide(bounds, queue, object),
        (true, true) => delete(bounds, queue, object),
        // Nothing of it is at the backend that we could know of.
        (true, false) => {
            queue.forget();
            Step::Wait
        }
    }
}

/// R12: whether something may be there of an object that can hold us no more.
fn owner_is_gone(queue: &Queue, object: Option<Object>) -> bool {
    let alive = object.is_some_and(|o| o.uid == queue.owner && (o.ours || !o.deleting));
    queue.owner != 0 && queue.may_be_there() && !alive
}

/// R12: `None` if there is nothing left to do for the owner.
fn after_owner(bounds: &Bounds, queue: &mut Queue, object: Option<Object>) -> Option<Step> {
    if !bounds.follows(Rule::GoneByForce) {
        queue.forget();
        return None;
    }
    if let Some(heir) = object.filter(|o| o.uid != queue.owner && o.ours)
        && bounds.follows(Rule::AnotherUid)
    {
        let Queue { ids, unknown, .. } = *queue;
        queue.forget();
        own(queue, heir);
        *queue = Queue { sent: Sent::Maybe, ids, unknown, ..*queue };
        return None;
    }
    if let Some(same) = object.filter(|o| o.uid == queue.owner) {
        own(queue, same);
    }
    if !queue.retain
        && !queue.hopeless
        && let Some(call) = undo(bounds, queue)
    {
        return Some(gate(bounds, queue, call));
    }
    if fenced(bounds, queue) {
        return Some(Step::Wait);
    }
    queue.forget();
    None
}

/// A live Bucket: make it Ready.
fn provide(bounds: &Bounds, queue: &mut Queue, object: Object) -> Step {
    if object.id.is_some() && bounds.follows(Rule::ReadyIsFinal) {
        recorded(queue, object);
        return Step::Wait;
    }
    find_intent(bounds, queue);
    if queue.answer.is_some() {
        return Step::Record;
    }
    gate(bounds, queue, making(bounds, queue))
}

/// R10, R13: it is deleting, bears our finalizer, and its claim has let go.
fn delete(bounds: &Bounds, queue: &mut Queue, object: Object) -> Step {
    if object.id.is_none() {
        find_intent(bounds, queue);
    } else if queue.sent == Sent::Unknown
        && queue.succeeded
        && queue.inherited == Fence::Down
        && bounds.follows(Rule::NewLeader)
    {
        // A predecessor may be at work on the same deletion. Ours need not wait for it, but what is made under the name afterwards
        // must.
        queue.inherited = Fence::UpExcept(rpcs(bounds.kind).1);
    }
    let may_leave = object.retain || queue.gone || queue.hopeless;
    if !may_leave && let Some(call) = undo(bounds, queue) {
        return gate(bounds, queue, call);
    }
    if !queue.gone && fenced(bounds, queue) { Step::Wait } else { Step::Release }
}
