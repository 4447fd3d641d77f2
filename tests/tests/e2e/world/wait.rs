//! Waiting for things, with a deadline.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long anything may take: a request to the API server that may land late is waited for by the sidecar for a minute.
const PATIENCE: Duration = Duration::from_secs(90);

/// Looks again and again until there is something to see. `Err` says what is there instead.
pub(crate) async fn eventually<T, F>(what: &str, mut look: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, String>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look().await {
            Ok(seen) => return seen,
            Err(instead) if Instant::now() > deadline => {
                panic!("waited {PATIENCE:?} in vain for {what}; there is {instead}")
            }
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}
