//! What a driver may know about the call that it works for.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The call that a driver works for.
///
/// # Cancellation
/// When the caller's deadline passes or the caller goes away, the driver's method goes on: it holds the name until it
/// returns, so that nothing else for the name can run beside it. A method that can stop safely should do so when
/// [`abandoned`](Self::abandoned) resolves, and return an error such as `DEADLINE_EXCEEDED`; nobody receives it, but it
/// is traced.
#[derive(Debug, Clone)]
pub struct CallContext {
    deadline: Option<Instant>,
    abandoned: CancellationToken,
}

impl CallContext {
    pub(crate) fn new(timeout: Option<Duration>, abandoned: CancellationToken) -> Self {
        Self { deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)), abandoned }
    }

    /// When the caller stops waiting, if it said so.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// How long the caller still waits, if it said so; zero when it no longer does.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.is_cancelled()
    }

    /// Resolves when nobody waits for the answer any more.
    pub async fn abandoned(&self) {
        self.abandoned.cancelled().await;
    }
}

/// For a driver's own tests: no deadline, never abandoned.
impl Default for CallContext {
    fn default() -> Self {
        Self::new(None, CancellationToken::new())
    }
}
