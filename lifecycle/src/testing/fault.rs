//! What can go wrong with one effect.

use std::time::Duration;

use super::calls::makes;
use super::{DriverKind, GRACE, TIMEOUT};
use crate::{Code, Failure, Outcome, Rpc};

/// What an effect is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Read,
    Write,
    /// A write without a condition: whenever it lands, it makes an object if there is none of that name.
    Create,
    Call(Rpc),
    Person,
}

/// A fault of one effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Api(ApiFault),
    Call(CallFault),
    /// The process dies and another one starts at once.
    Crash(Crash),
}

/// A fault of a request to the API server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ApiFault {
    /// 500, 503 or no answer; nothing was done.
    Lost,
    /// 504 or no answer; it was done.
    AppliedLost,
    /// 504, and done so much later.
    LandsLater(Duration),
    /// 409 out of the blue.
    Conflict,
    /// 422 out of the blue.
    Invalid,
    /// 429 with a time to wait.
    Throttled,
    Forbidden,
    /// Answered after 30 s.
    Slow,
    /// Somebody else writes a label just before: the version that was read is old.
    Overtaken,
}

impl ApiFault {
    const OF_WRITES: [Self; 10] = [
        Self::Lost,
        Self::AppliedLost,
        Self::Conflict,
        Self::Invalid,
        Self::Throttled,
        Self::Forbidden,
        Self::Slow,
        Self::Overtaken,
        Self::LandsLater(Duration::from_millis(500)),
        Self::LandsLater(Duration::from_mins(2)),
    ];
    /// An API server gives up after a minute.
    const OF_CREATES: [Self; 10] = [
        Self::Lost,
        Self::AppliedLost,
        Self::Conflict,
        Self::LandsLater(Duration::from_secs(59)),
        Self::Invalid,
        Self::Throttled,
        Self::Forbidden,
        Self::Slow,
        Self::Overtaken,
        Self::LandsLater(Duration::from_millis(500)),
    ];
    const OF_READS: [Self; 4] = [Self::Lost, Self::Throttled, Self::Forbidden, Self::Slow];
}

/// A fault of a driver call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CallFault {
    /// Not connected.
    NotSent,
    /// Refused, or failed, before anything was done.
    Code(Code),
    /// Done, but answered with an error.
    Done(Code),
    /// Answered with an error, and done so much later.
    Later(Code, Duration),
    /// Broken off half-way, answered with an error.
    Half(Code),
    /// The request was lost.
    NoAnswer,
    /// The answer was lost.
    NoAnswerDone,
    /// No answer before the deadline, and done so much after it.
    NoAnswerLater(Duration),
    /// OK without an id.
    NoId,
    /// OK with an id that the protocol does not allow.
    BadId,
    /// OK without the info that is needed.
    NoInfo,
    /// OK with another id than before.
    OtherId,
    /// OK with a bucket that was not asked for.
    WrongBucket,
    /// OK without credentials.
    NoCredentials,
    /// OK with a value that is needed left empty.
    EmptyValue,
}

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Crash {
    Before,
    After,
    /// During a call, which takes effect so much later.
    During(Duration),
}

/// How many faults to try per effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Depth {
    /// All of them.
    Every,
    /// One of each class that the machine tells apart.
    OnePerClass,
}

impl Fault {
    /// The faults that an effect can meet.
    pub(crate) fn all(target: Target, kind: DriverKind, depth: Depth) -> Vec<Self> {
        let mut all = vec![Self::Crash(Crash::Before), Self::Crash(Crash::After)];
        match target {
            Target::Read => all.extend(some(&ApiFault::OF_READS, depth, 1).map(Self::Api)),
            Target::Write => all.extend(some(&ApiFault::OF_WRITES, depth, 4).map(Self::Api)),
            Target::Create => all.extend(some(&ApiFault::OF_CREATES, depth, 4).map(Self::Api)),
            Target::Call(rpc) => {
                all.extend(calls(rpc, kind, depth).into_iter().map(Self::Call));
                let latest = just_before(TIMEOUT + GRACE);
                let during = [Duration::ZERO, Duration::from_secs(5), latest];
                all.extend(during.into_iter().map(Crash::During).map(Self::Crash));
            }
            Target::Person => {}
        }
        all
    }

    /// How many more RPCs it may cost (I9): a repeat and a detour, or one per backoff step while the driver
    /// says ABORTED.
    pub(crate) fn cost(self) -> usize {
        match self {
            Self::Call(CallFault::Later(..) | CallFault::NoAnswerLater(_))
            | Self::Crash(Crash::During(_)) => 12,
            Self::Call(CallFault::BadId) => 4,
            _ => 2,
        }
    }

    /// The fault makes the driver or the API server refuse for good, so that only the slow re-check helps.
    pub(crate) fn is_refusal(self, target: Target) -> bool {
        match self {
            Self::Call(CallFault::Code(c) | CallFault::Done(c) | CallFault::Half(c)) => {
                let message = String::new();
                let failure = Failure::Answered { code: c, message };
                matches!(target, Target::Call(rpc) if failure.is_terminal(rpc))
            }
            Self::Call(fault) => fault.is_defect(),
            Self::Api(fault) => fault == ApiFault::Invalid,
            Self::Crash(_) => false,
        }
    }
}

impl CallFault {
    /// The driver answers OK, with something that is of no use.
    pub(super) const fn is_defect(self) -> bool {
        matches!(
            self,
            Self::NoId
                | Self::BadId
                | Self::NoInfo
                | Self::OtherId
                | Self::WrongBucket
                | Self::NoCredentials
                | Self::EmptyValue
        )
    }
}

fn some<T: Copy>(all: &[T], depth: Depth, few: usize) -> impl Iterator<Item = T> {
    let n = if depth == Depth::Every { all.len() } else { few };
    all.iter().copied().take(n)
}

fn calls(rpc: Rpc, kind: DriverKind, depth: Depth) -> Vec<CallFault> {
    let codes = match depth {
        Depth::Every => Code::ALL.to_vec(),
        Depth::OnePerClass => vec![Code::Internal, Code::InvalidArgument, Code::NotFound],
    };
    let late = just_before(GRACE);
    let mut all = vec![
        CallFault::NotSent,
        CallFault::NoAnswer,
        CallFault::NoAnswerDone,
        CallFault::NoAnswerLater(late),
    ];
    for code in codes {
        all.push(CallFault::Code(code));
        all.push(CallFault::Done(code));
        let open = match outcome_of(rpc, code) {
            Outcome::Unknown => true,
            Outcome::Busy => kind.serialises,
            _ => false,
        };
        if open {
            all.push(CallFault::Later(code, late));
        }
        if makes(rpc) {
            all.push(CallFault::Half(code));
        }
    }
    if depth == Depth::Every {
        all.push(CallFault::NoAnswerLater(Duration::from_millis(1500)));
    }
    if matches!(rpc, Rpc::CreateBucket | Rpc::GetExistingBucket | Rpc::GrantBucketAccess) {
        all.extend([CallFault::NoId, CallFault::BadId, CallFault::NoInfo]);
    }
    if rpc == Rpc::GrantBucketAccess {
        let more =
            [CallFault::OtherId, CallFault::WrongBucket, CallFault::NoCredentials, CallFault::EmptyValue];
        all.extend(some(&more, depth, 1));
    }
    all
}

fn outcome_of(rpc: Rpc, code: Code) -> Outcome {
    Failure::Answered { code, message: String::new() }.outcome(rpc)
}

/// Just before the end of a stretch of time.
fn just_before(end: Duration) -> Duration {
    end.saturating_sub(Duration::from_nanos(1))
}
