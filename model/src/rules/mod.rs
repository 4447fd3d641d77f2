//! The rules: what a sidecar does next, from what it sees and what it remembers. A compact restatement of
//! `cosi_lifecycle`, without its times and texts; the rules' numbers are those of the lifecycle's design record.

mod access;
mod answer;
mod bucket;

use cosi_lifecycle::Rpc;

pub(crate) use answer::answered;

use crate::world::{Call, Fence, Object, Queue, Secret, Sent};
use crate::{Bounds, Kind, Rule};

/// What a sidecar does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing, until something changes or a fence falls.
    Wait,
    /// Write our finalizer (R1).
    Intend,
    Call(Call),
    /// Write id and readiness (R7).
    Record,
    /// Take our finalizer off, or tell the controller to.
    Release,
    /// Create the empty Secret.
    Reserve,
    /// Write the key into the Secret.
    Fill(u8),
    /// Write that the access is not ready.
    Close,
    DropSecret,
}

impl Step {
    pub(crate) const fn writes(self) -> bool {
        !matches!(self, Self::Wait | Self::Call(_))
    }
}

/// The next step. What was seen is taken into the queue; doing so twice changes nothing.
pub(crate) fn decide(bounds: &Bounds, queue: &mut Queue, object: Option<Object>, secret: Secret) -> Step {
    match bounds.kind {
        Kind::Bucket => bucket::decide(bounds, queue, object),
        Kind::Access => access::decide(bounds, queue, object, secret),
    }
}

/// The RPCs that make a thing, take it away by its id, and by its name.
const fn rpcs(kind: Kind) -> (Rpc, Rpc, Rpc) {
    match kind {
        Kind::Bucket => (Rpc::CreateBucket, Rpc::DeleteBucket, Rpc::DeleteBucketByName),
        Kind::Access => (Rpc::GrantBucketAccess, Rpc::RevokeBucketAccess, Rpc::RevokeBucketAccessByName),
    }
}

/// From now on the queue is about this object.
fn own(queue: &mut Queue, object: Object) {
    if queue.owner != object.uid {
        queue.forget();
    }
    queue.owner = object.uid;
    queue.retain = object.retain;
    queue.deleting = object.deleting;
    queue.recorded = object.id;
}

/// An intent without result that this process did not write itself (R3, R6).
fn find_intent(bounds: &Bounds, queue: &mut Queue) {
    if queue.sent != Sent::Unknown {
        return;
    }
    if queue.succeeded && bounds.follows(Rule::NewLeader) {
        queue.inherited = Fence::Up;
    }
    queue.sent = Sent::Maybe;
}

/// R7: the result is in the API. Only ids that differ from the recorded one are still to be remembered.
pub(crate) fn recorded(queue: &mut Queue, object: Object) {
    let ids = queue.ids & !object.id.map_or(0, crate::world::bit);
    queue.forget();
    own(queue, object);
    queue.ids = ids;
}

/// The call that makes the thing.
fn making(bounds: &Bounds, queue: &Queue) -> Call {
    Call { rpc: rpcs(bounds.kind).0, uid: queue.owner, id: 0, replay: false }
}

/// The next step of an undo; `None` if the backend is clean as far as is known (R10 b–e).
fn undo(bounds: &Bounds, queue: &Queue) -> Option<Call> {
    let (make, by_id, by_name) = rpcs(bounds.kind);
    let call = Call { rpc: by_name, uid: queue.owner, id: 0, replay: false };
    let remaining = queue.remaining();
    if remaining != 0 {
        let id = u8::try_from(remaining.trailing_zeros()).unwrap_or_default();
        return Some(Call { rpc: by_id, id, ..call });
    }
    if queue.sent == Sent::Nothing || !bounds.follows(Rule::ByNameOrReplay) {
        return None;
    }
    Some(if bounds.driver.by_name { call } else { Call { rpc: make, replay: true, ..call } })
}

/// The call, if it may be sent now.
fn gate(bounds: &Bounds, queue: &Queue, call: Call) -> Step {
    let provides = call.makes() && !call.replay;
    let rule = if provides { Rule::GraceBeforeRepeat } else { Rule::GraceBeforeDelete };
    let graced = bounds.follows(rule) && queue.grace.holds(call.rpc);
    if queue.blocked || graced || queue.inherited.holds(call.rpc) { Step::Wait } else { Step::Call(call) }
}

/// Whether a call may still be at work (R10 a).
fn fenced(bounds: &Bounds, queue: &Queue) -> bool {
    (bounds.follows(Rule::GraceBeforeDelete) && queue.grace != Fence::Down) || queue.inherited != Fence::Down
}

/// The RPC that takes a thing away by its id.
pub(crate) const fn by_id(kind: Kind) -> Rpc {
    rpcs(kind).1
}

/// The RPC that takes a thing away by its name.
pub(crate) const fn by_name(kind: Kind) -> Rpc {
    rpcs(kind).2
}
