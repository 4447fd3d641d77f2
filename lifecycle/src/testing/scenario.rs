//! What happens to an object, and when.

use std::time::Duration;

/// What users do, and what must come of it.
#[derive(Clone, Debug)]
pub(crate) struct Scenario<O> {
    pub(crate) name: &'static str,
    pub(crate) ops: Vec<(Trigger, O)>,
    /// Watch events arrive so much later, and only between passes; without it they arrive at once.
    pub(crate) lag: Option<Duration>,
    /// The operation that the sweeps move over every point.
    pub(crate) moving: usize,
    /// The object cannot become Ready.
    pub(crate) never_ready: bool,
    /// API writes and RPCs without faults, at most (I9).
    pub(crate) floor: (usize, usize),
}

/// When somebody does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Before effect n (even: 2n), or between effect n and its answer (odd: 2n + 1).
    Point(usize),
    /// When all is quiet.
    Idle,
    /// As soon as the object is gone.
    Gone,
    /// Together with the one before.
    AtOnce,
    /// So many points after the one before, if that has a point; else at once.
    Soon(usize),
}
