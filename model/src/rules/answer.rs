//! What a driver's answer changes in the queue (R3, R6). The classes of answers are the sidecar's own.

use cosi_lifecycle::{Code, Failure, Outcome};

use crate::world::{Call, Fence, Queue, bit};
use crate::{Bounds, Rule};

/// The call has ended here; `result` is the id and key of an OK.
pub(crate) fn answered(bounds: &Bounds, queue: &mut Queue, call: Call, result: Result<(u8, u8), &Failure>) {
    match result {
        Ok(made) if call.makes() => learn(queue, call, made),
        Ok(_) => undone(bounds, queue, call),
        Err(failure) => failed(bounds, queue, call, failure),
    }
}

fn learn(queue: &mut Queue, call: Call, (id, key): (u8, u8)) {
    queue.ids |= bit(id);
    queue.deleted &= !bit(id);
    if !call.replay {
        queue.answer = Some((id, key));
    }
}

fn undone(bounds: &Bounds, queue: &mut Queue, call: Call) {
    queue.deleted |= bit(call.id);
    queue.gone = call.rpc == super::rpcs(bounds.kind).2 || queue.remaining() == 0;
    queue.answer = None;
    if queue.gone {
        queue.ids = 0;
        queue.deleted = queue.recorded.map_or(0, bit);
    }
}

fn failed(bounds: &Bounds, queue: &mut Queue, call: Call, failure: &Failure) {
    match outcome(bounds, call, failure) {
        Outcome::NotSent => {}
        Outcome::Refused => refused(bounds, queue, call, failure),
        Outcome::Unknown => {
            queue.grace = Fence::Up;
            queue.unknown |= call.makes();
        }
        Outcome::Busy => {
            if queue.grace != Fence::Up {
                queue.grace = Fence::UpExcept(call.rpc);
            }
            queue.unknown |= call.makes();
        }
    }
}

fn outcome(bounds: &Bounds, call: Call, failure: &Failure) -> Outcome {
    let internal = matches!(failure, Failure::Answered { code: Code::Internal, .. });
    if internal && !bounds.follows(Rule::GraceAfterError) {
        return Outcome::Refused;
    }
    failure.outcome(call.rpc)
}

fn refused(bounds: &Bounds, queue: &mut Queue, call: Call, failure: &Failure) {
    if call.makes() && !bounds.follows(Rule::RememberRefused) {
        queue.sent = queue.before;
    }
    if !failure.is_terminal(call.rpc) {
        return;
    }
    // R10 e: such a replay made nothing and never will, unless an earlier call may have.
    if call.replay && !queue.unknown {
        queue.hopeless = true;
    } else {
        queue.blocked = true;
    }
}
