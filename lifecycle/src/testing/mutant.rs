//! Seeded bugs: each switches one rule off, at the seam between the machine and its shell.

use crate::{Code, Failure};

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// R1: the intent is not written.
    NoIntent,
    /// R3: an unknown outcome does not hold the repeat back.
    NoGraceBeforeRepeat,
    /// R3: an unknown outcome does not hold the delete back.
    NoGraceBeforeDelete,
    /// R3: no grace at all.
    NoGrace,
    /// R3: INTERNAL counts as refused.
    InternalIsRefused,
    /// R3: no answer counts as refused.
    TimeoutIsRefused,
    /// R3: a new process takes itself for an old one.
    NoPredecessor,
    /// R4: the live read is served from the cache.
    CacheForLiveRead,
    /// R6: only what was answered OK is remembered.
    RefusedIsForgotten,
    /// R6: the queue is dropped when a status write fails.
    ForgetOnFailedWrite,
    /// R7: the status write has no condition.
    UnconditionedStatus,
    /// R7: finalizers are written without a condition.
    UnconditionedFinalizers,
    /// R8: the finalizer goes when Create failed.
    ReleaseOnFailedCreate,
    /// R9: a Ready bucket that vanished is made again.
    RecreateVanished,
    /// R10 d, e: no id, nothing to do.
    NothingWithoutId,
    /// R10: the removal is repeated after a conflict without a new decision.
    StubbornRemoval,
    /// R10 e: let go although this process saw an unknown outcome.
    LetGoThoughUnknown,
    /// R12: what was known goes with the object.
    ForgetTheGone,
    /// R12: the rest of the old object is deleted though another one has taken over.
    DisinheritTheHeir,
    /// R16: the status is written on every try.
    ReportEveryTry,
    /// The driver's delete-by-name takes what its Create refuses.
    DriverTakesForeign,
    /// Accesses: no Secret is reserved before the Grant.
    GrantUnreserved,
    /// Accesses: the Buckets are not looked at before the Grant.
    GrantUnchecked,
    /// Accesses: every Secret of the right name is taken as its own.
    AdoptSecrets,
    /// Accesses: a Secret is written and deleted whatever became of it since it was read.
    UnconditionedSecrets,
    /// Accesses: others' finalizers go with ours.
    ReleaseForOthers,
    /// Accesses: Ready though the Secrets are not written yet.
    StatusBeforeSecrets,
    /// Accesses: a renewed Grant is written only into the Secret that was lost.
    KeepOldKeys,
    /// R8: a Secret that cannot be written keeps the next one from being written.
    OneFailsAll,
    /// Accesses: readiness is left as it is while the Secrets go.
    ReadyToTheEnd,
    /// Accesses: the Secrets are left for after the Revoke.
    RevokeFirst,
    /// Accesses: a Revoke that failed is taken as done.
    FinishUnrevoked,
    /// Accesses: those of a gone access are left to the garbage collector.
    LeaveSecrets,
}

/// The failure, taken as a refusal if it is one of those.
pub(crate) fn soften(failure: Failure, which: impl FnOnce(&Failure) -> bool) -> Failure {
    if which(&failure) {
        let message = failure.message().to_owned();
        return Failure::Answered { code: Code::FailedPrecondition, message };
    }
    failure
}
