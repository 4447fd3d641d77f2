//! What can go wrong with one step (lifecycle.md §4).

use std::time::Duration;

use cosi_lifecycle::Code;

use crate::settings::{GRACE, TIMEOUT};
use crate::world::Sort;

/// What goes wrong with a step. Which step it will be, a schedule cannot know, so there is one fault for each sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// If it is a request to the API server.
    Api(ApiFault),
    /// If it is a call to the driver.
    Call(CallFault),
    /// The sidecar's process dies, and another one starts a second later.
    Death(Death),
    /// The sidecar's process stands still for so long from its next byte to the driver on; requests wait, too.
    Pause(Duration),
    /// The process stands still for so long with this request in its hands, which leaves when it wakes up.
    Freeze(Duration),
}

impl Fault {
    /// Whether it can be one of such a step.
    pub(crate) fn fits(self, sort: Sort) -> bool {
        match self {
            Self::Api(ApiFault::AnswerLost | ApiFault::DoneBut(_)) => sort == Sort::Write,
            Self::Call(_) | Self::Death(Death::During(_)) => sort == Sort::Call,
            Self::Api(_) | Self::Pause(_) | Self::Freeze(_) => sort != Sort::Call,
            Self::Death(_) => true,
        }
    }
}

/// What goes wrong with a request to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiFault {
    /// The request is lost.
    Lost,
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It is refused with this code, and not done.
    Refused(u16),
    /// It is done, and answered with this code.
    DoneBut(u16),
    /// It is answered with 504, and done so much later.
    Later(Duration),
    /// It is done, and answered so much later.
    Slow(Duration),
    /// Somebody else writes a label just before.
    Overtaken,
}

/// What goes wrong with a call to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallFault {
    /// An error; nothing is done.
    Fails(Code),
    /// It is done, and answered with an error.
    DoneBut(Code),
    /// Half of it is done, and it is answered with an error.
    Half(Code),
    /// It is answered with an error, and done so much later.
    Later(Code, Duration),
    /// Nothing is done, and never answered.
    Hangs,
    /// It is done, and never answered.
    DoneAndHangs,
    /// It is never answered, and done so much after its deadline.
    LandsLate(Duration),
    /// The connection breaks before it is done.
    Cut,
    /// The connection breaks after it is done.
    DoneAndCut,
    /// The driver dies before it is done, and comes back a second later.
    Crash,
    /// The driver dies after it is done, and comes back a second later.
    DoneAndCrash,
    /// The driver dies, and comes back without the by-name RPCs, or with them.
    Replaced,
    /// It is done, and the answer has no id.
    NoId,
    /// It is done, and the answer has no information about the protocol.
    NoInfo,
}

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Death {
    /// Before the request leaves.
    Before,
    /// After it was done, before its answer is there.
    After,
    /// With a call under way, which is done so much later.
    During(Duration),
}

/// The last moment of a stretch of time.
const fn end_of(stretch: Duration) -> Duration {
    stretch.saturating_sub(Duration::from_millis(20))
}

/// Longer than anybody waits for an answer.
pub(crate) const SLOW: Duration = Duration::from_secs(30);
/// Nearly as long as a leader waits for the answer to a renewal of its lease: half of the time that is left then.
const SLOW_RENEWAL: Duration = Duration::from_secs(4);

impl ApiFault {
    /// One of each, for requests that write.
    pub const OF_WRITES: [Self; 16] = [
        Self::Lost,
        Self::AnswerLost,
        Self::Refused(403),
        Self::Refused(409),
        Self::Refused(422),
        Self::Refused(429),
        Self::Refused(500),
        Self::Refused(503),
        Self::Refused(504),
        Self::DoneBut(500),
        Self::DoneBut(504),
        Self::Later(Duration::from_millis(400)),
        Self::Later(Duration::from_secs(20)),
        Self::Slow(SLOW),
        Self::Overtaken,
        Self::Refused(400),
    ];
    /// One of each, for requests that read.
    pub const OF_READS: [Self; 6] = [
        Self::Lost,
        Self::Refused(429),
        Self::Refused(500),
        Self::Refused(503),
        Self::Slow(SLOW),
        Self::Overtaken,
    ];
    /// One of each, for requests that are about the leader's Lease.
    pub const OF_LEASES: [Self; 10] = [
        Self::Lost,
        Self::AnswerLost,
        Self::Refused(403),
        Self::Refused(409),
        Self::Refused(500),
        Self::Refused(503),
        Self::DoneBut(504),
        Self::Later(Duration::from_secs(20)),
        Self::Slow(SLOW_RENEWAL),
        Self::Slow(SLOW),
    ];
}

impl CallFault {
    /// One of each.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let late = end_of(GRACE);
        let mut all = vec![
            Self::Hangs,
            Self::DoneAndHangs,
            Self::LandsLate(Duration::from_millis(300)),
            Self::LandsLate(late),
            Self::Cut,
            Self::DoneAndCut,
            Self::Crash,
            Self::DoneAndCrash,
            Self::Replaced,
            Self::NoId,
            Self::NoInfo,
        ];
        for code in Code::ALL {
            all.push(Self::Fails(code));
        }
        for code in [Code::Internal, Code::Unavailable, Code::DeadlineExceeded, Code::Unknown] {
            all.extend([Self::DoneBut(code), Self::Half(code), Self::Later(code, late)]);
        }
        // ABORTED says that nothing more comes of the call (R3): a driver that does it later breaks the protocol.
        all.push(Self::DoneBut(Code::Cancelled));
        all
    }

    /// Whether the driver answers what ends the work until the slow re-check.
    pub(crate) fn may_be_final(self) -> bool {
        match self {
            Self::Fails(code) | Self::DoneBut(code) | Self::Half(code) | Self::Later(code, _) => matches!(
                code,
                Code::InvalidArgument
                    | Code::NotFound
                    | Code::AlreadyExists
                    | Code::PermissionDenied
                    | Code::FailedPrecondition
                    | Code::OutOfRange
                    | Code::Unimplemented
                    | Code::Unauthenticated
            ),
            Self::NoId | Self::NoInfo => true,
            _ => false,
        }
    }
}

impl Death {
    /// One of each.
    pub const ALL: [Self; 5] = [
        Self::Before,
        Self::After,
        Self::During(Duration::ZERO),
        Self::During(Duration::from_millis(1500)),
        Self::During(end_of(TIMEOUT.saturating_add(GRACE))),
    ];
}
