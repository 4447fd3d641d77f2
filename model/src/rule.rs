//! The rules that can be switched off.

/// A rule that can be switched off to see what it is for. The numbers are those of the lifecycle's design record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// R1: the finalizer is on the object before the first call.
    Intent,
    /// R3: a repeat waits for the grace.
    GraceBeforeRepeat,
    /// R3: an answered error can be the answer of a driver that is still at work.
    GraceAfterError,
    /// R3: a deletion waits for the grace.
    GraceBeforeDelete,
    /// R3: a new leader waits for the calls of its predecessor.
    NewLeader,
    /// R6: what was sent is remembered even if it was refused.
    RememberRefused,
    /// R6: the queue is filled before anything else that can fail. Switched off, an access's Secret is deleted first.
    FillFirst,
    /// R7: results are written on condition of the version that was read.
    ConditionedStatus,
    /// R1, R10: finalizers are written on condition of the version that was read.
    ConditionedFinalizers,
    /// R9: a Ready object is never made again.
    ReadyIsFinal,
    /// R10 d, e: without an id the name is deleted, or the call replayed.
    ByNameOrReplay,
    /// R10: a conflict means to decide again.
    DecideAgain,
    /// R12: what an object left that went away by force is deleted.
    GoneByForce,
    /// R12: another object with our finalizer under the name inherits.
    AnotherUid,
    /// R15: `cosi-not-after-ns` is not later than the end of the lease.
    NotAfterLeaseEnd,
    /// R15: a leader that lost its lease deletes by its id what an own call made for an object that is gone. Without it there is
    /// less that can go wrong, and more that is left behind by force.
    LastWill,
    /// R15: a predecessor's calls are counted from when the lease was taken, not from when the process was started.
    SinceLeaseTaken,
}
