//! Puts the parts together and watches over them: if any one ends, the process ends.

mod parts;

use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::Wake;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::parts::{Parts, Queues};
use crate::clock;
use crate::cluster::{ConnectError, connect, watch};
use crate::driver::{Ended, follow};
use crate::settings::Settings;
use crate::work::Defect;

/// How much longer than a call's deadline a stop may take: the result is still to be recorded.
const RECORDING_TIME: Duration = Duration::from_secs(5);

/// Why the sidecar gives up.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no way to reach an API server.
    #[error("no way to reach the Kubernetes API server")]
    Connect(#[from] ConnectError),
    /// The operating system does not let us wait for signals.
    #[error("cannot wait for signals")]
    Signals(#[source] std::io::Error),
    /// The driver is not the one that it was.
    #[error(transparent)]
    Driver(#[from] Ended),
    /// The sidecar is wrong.
    #[error(transparent)]
    Defect(#[from] Defect),
    /// A task that runs for ever did not.
    #[error("an internal task ended unexpectedly: {0}")]
    TaskEnded(&'static str),
}

/// Runs until SIGTERM or SIGINT, or until something is so wrong that a person must look.
///
/// # Errors
///
/// [`RunError`] says what.
pub async fn run(settings: Settings) -> Result<(), RunError> {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), endpoint = %settings.driver_endpoint.display(), "starting");
    let mut terminate = signal(SignalKind::terminate()).map_err(RunError::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(RunError::Signals)?;
    let stopping = CancellationToken::new();
    let work = work(settings, stopping.clone());
    let mut work = std::pin::pin!(work);
    tokio::select! {
        result = &mut work => return result,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: no new calls; running ones may end");
    stopping.cancel();
    tokio::select! {
        result = &mut work => return result,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::warn!("told twice to stop: stopping at once, the next start waits for the calls that run");
    Ok(())
}

async fn work(settings: Settings, stopping: CancellationToken) -> Result<(), RunError> {
    // Whatever a predecessor sent was sent before now.
    let predecessor_done = clock::now() + settings.timeout + settings.late_landing_grace;
    let client = connect(&settings).await?;
    let queues = Arc::<Queues>::default();
    let on_connect = {
        let queues = Arc::clone(&queues);
        move || queues.wake_all(Wake::CONNECTED)
    };
    let expected = settings.driver_name.clone();
    let (driver, following) =
        follow(settings.driver_endpoint.clone(), expected.clone(), settings.timeout, on_connect);
    let mut following = std::pin::pin!(following);
    let name = tokio::select! {
        ended = &mut following => return Err(ended.into()),
        () = stopping.cancelled() => return Ok(()),
        name = async { match expected { Some(name) => Some(name), None => driver.name().await } } => name,
    };
    let Some(name) = name else { return Err(RunError::TaskEnded("driver connection")) };
    let parts = Parts::new(&settings, client, name.as_str(), driver, &queues, predecessor_done, &stopping);
    let Parts { buckets, accesses } = &parts;
    let mut pool = JoinSet::new();
    buckets.start(settings.worker_threads, &mut pool);
    accesses.start(settings.worker_threads, &mut pool);
    tokio::select! {
        ended = &mut following => Err(ended.into()),
        () = watch(&buckets.effects.buckets, &buckets.effects.index, buckets) => {
            Err(RunError::TaskEnded("watch of Buckets"))
        }
        () = watch(&accesses.effects.accesses, &accesses.effects.index, accesses) => {
            Err(RunError::TaskEnded("watch of BucketAccesses"))
        }
        () = queues.buckets.run_timers(clock::now) => Err(RunError::TaskEnded("timers of Buckets")),
        () = queues.accesses.run_timers(clock::now) => Err(RunError::TaskEnded("timers of BucketAccesses")),
        result = drain(pool, &stopping, settings.timeout + RECORDING_TIME) => result,
    }
}

/// Waits for the workers. They end only when told to, and then each after its running call; not longer than `bound`.
async fn drain(
    mut pool: JoinSet<Result<(), Defect>>,
    stopping: &CancellationToken,
    bound: Duration,
) -> Result<(), RunError> {
    let late = async {
        stopping.cancelled().await;
        tokio::time::sleep(bound).await;
    };
    let mut late = std::pin::pin!(late);
    loop {
        let ended = tokio::select! {
            ended = pool.join_next() => ended,
            () = &mut late => {
                tracing::warn!("stopping though calls are still running; the next start waits for them");
                return Ok(());
            }
        };
        match ended {
            None => return Ok(()),
            Some(Ok(Ok(()))) if stopping.is_cancelled() => {}
            Some(Ok(Ok(())) | Err(_)) => return Err(RunError::TaskEnded("worker")),
            Some(Ok(Err(defect))) => return Err(defect.into()),
        }
    }
}
