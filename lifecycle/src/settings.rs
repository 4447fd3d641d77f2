//! What a person configured, and what the shell knows at the moment of a step.

use std::time::Duration;

use crate::Time;

/// The tunables of the lifecycle; each has a flag of the same name in the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Deadline of every driver call.
    pub timeout: Duration,
    /// How long after a call of unknown outcome ended here it may still take effect at the backend (R3).
    pub late_landing_grace: Duration,
    /// First backoff after a failure.
    pub retry_interval_start: Duration,
    /// Longest backoff.
    pub retry_interval_max: Duration,
    /// How often a terminal error is tried again though nothing changed, and the text of an unchanged error refreshed.
    pub recheck_interval: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(20),
            late_landing_grace: Duration::from_secs(10),
            retry_interval_start: Duration::from_secs(1),
            retry_interval_max: Duration::from_mins(5),
            recheck_interval: Duration::from_mins(30),
        }
    }
}

/// What the shell knows at the moment of a step.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Now, on this process's own clock.
    pub now: Time,
    /// The tunables.
    pub settings: &'a Settings,
    /// A fresh random number in `0.0..1.0`, for jitter.
    pub jitter: f64,
    /// The current driver connection answered UNIMPLEMENTED to the by-name RPC of this kind. There is no capability
    /// RPC: what was learnt holds for one connection only.
    pub by_name_missing: bool,
    /// When a call that a predecessor may have sent for this object has certainly ended: deadline and grace after this
    /// process took the lease, or began without one (R3, a new leader). The clock's origin if no predecessor can have sent any: an access that was
    /// not there yet when this process listed them first.
    pub predecessor_done: Time,
    /// Whether this process may still begin something: it holds the lease, or there is no election (R15). Once it may not,
    /// it never may again.
    pub may_act: bool,
}
