//! Puts the parts together and watches over them: if any one ends, the process ends.

use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::bucket::BucketState;
use cosi_lifecycle::{Machine as _, Note, Wake};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::cluster::{Buckets, ConnectError, Index, Reporter, Watch, connect, watch};
use crate::driver::{Ended, follow};
use crate::settings::Settings;
use crate::work::{Defect, Effects, Queue, Workers};

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

type BucketQueue = Queue<Arc<str>, BucketState>;

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
    let queue: Arc<BucketQueue> = Arc::default();
    let on_connect = {
        let queue = Arc::clone(&queue);
        move || queue.wake_all(Wake::CONNECTED)
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
    let buckets = Buckets::new(client.clone(), name.as_str().into());
    let index = Arc::<Index>::default();
    let reporter = Reporter::new(client);
    let workers = Arc::new(Workers {
        queue: Arc::clone(&queue),
        effects: Effects {
            buckets: buckets.clone(),
            index: Arc::clone(&index),
            driver,
            reporter: reporter.clone(),
        },
        settings: settings.lifecycle(),
        predecessor_done,
        stopping: stopping.clone(),
    });
    let pool = pool(&workers, settings.worker_threads);
    let target = Target { workers: Arc::clone(&workers) };
    tokio::select! {
        ended = &mut following => Err(ended.into()),
        () = watch(&buckets, &index, &target) => Err(RunError::TaskEnded("watch")),
        () = queue.run_timers(clock::now) => Err(RunError::TaskEnded("timers")),
        result = drain(pool, &stopping, settings.timeout + RECORDING_TIME) => result,
    }
}

fn pool(workers: &Arc<Workers>, size: u16) -> JoinSet<Result<(), Defect>> {
    let mut pool = JoinSet::new();
    for _ in 0..size {
        let workers = Arc::clone(workers);
        pool.spawn(async move { workers.work().await });
    }
    pool
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

/// What the watch drives: the queue of Buckets.
struct Target {
    workers: Arc<Workers>,
}

impl Watch for Target {
    fn changed(&self, name: Arc<str>) {
        self.workers.queue.wake(name, Wake::CHANGED);
    }

    fn is_followed(&self, name: &str) -> bool {
        self.workers.queue.is_busy_or(&name.into(), BucketState::follows_an_object)
    }

    fn tell(&self, note: Note) {
        let workers = Arc::clone(&self.workers);
        tokio::spawn(async move { workers.effects.tell(&note).await });
    }
}
