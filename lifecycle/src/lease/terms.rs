//! The three durations of an election.

use std::time::Duration;

use super::record::LONGEST;

/// More often is no use to anybody, and a burden to the API server.
const SHORTEST_RETRY: Duration = Duration::from_millis(100);

/// How long a leader may be silent, how long it acts without a renewal, and how often it renews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    duration: Duration,
    deadline: Duration,
    retry: Duration,
}

/// Durations that do not fit together. The names are those of the sidecar's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTerms {
    /// The API stores whole seconds.
    #[error(
        "--leader-election-lease-duration must be a whole number of seconds, at least 1s and at most 30 days"
    )]
    Duration,
    /// The leader would act when others may have taken over.
    #[error("--leader-election-renew-deadline must be shorter than --leader-election-lease-duration")]
    Deadline,
    /// One failed renewal would be the end.
    #[error(
        "--leader-election-renew-deadline must be longer than 1.2 times --leader-election-retry-period, \
         which must be at least 100ms"
    )]
    Retry,
}

impl Terms {
    /// Terms that fit together by the rules that client-go has, too.
    ///
    /// # Errors
    ///
    /// [`InvalidTerms`] says which rule is broken.
    pub fn new(duration: Duration, deadline: Duration, retry: Duration) -> Result<Self, InvalidTerms> {
        if duration.is_zero() || duration.subsec_nanos() != 0 || duration > LONGEST {
            return Err(InvalidTerms::Duration);
        }
        if deadline >= duration {
            return Err(InvalidTerms::Deadline);
        }
        if retry < SHORTEST_RETRY || deadline <= retry.saturating_mul(6) / 5 {
            return Err(InvalidTerms::Retry);
        }
        Ok(Self { duration, deadline, retry })
    }

    /// How long others wait after the last sign of life of the holder.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        self.duration
    }

    /// How long the holder acts after it sent its last successful renewal.
    #[must_use]
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// From one renewal to the next; and from one look to the next where nothing tells of changes.
    #[must_use]
    pub const fn retry(&self) -> Duration {
        self.retry
    }

    /// How long one request may take: two of them fit in between the moment at which a renewal is due and the deadline.
    pub(super) fn patience(&self) -> Duration {
        self.deadline.saturating_sub(self.retry) / 2
    }

    /// Between two tries of a leader that cannot reach the API server.
    pub(super) fn pause(&self) -> Duration {
        self.retry / 4
    }

    /// For the record.
    pub(super) fn seconds(&self) -> i32 {
        i32::try_from(self.duration.as_secs()).unwrap_or(i32::MAX)
    }
}
