//! Puts the parts together and watches over them: if any one ends, the process ends.

mod candidacy;
mod parts;

use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::lease::{InvalidTerms, Loss};
use cosi_lifecycle::{Impossible, Wake};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::candidacy::Candidacy;
use self::parts::{Life, Parts, Queues};
use crate::cluster::{ConnectError, watch};
use crate::driver::{Ended, follow};
use crate::environment::{Env, Host};
use crate::settings::Settings;
use crate::work::{Defect, Lifecycle, Machines};

/// How much longer than its calls a stop may take: results are still to be recorded.
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
    /// The flags of the leader election do not fit together.
    #[error(transparent)]
    Terms(#[from] InvalidTerms),
    /// Another process may act now. To be started anew is the way to stand for election again: nothing of what this process
    /// remembers is worth anything any more.
    #[error("the leader's Lease is lost")]
    LeaseLost(#[source] Loss),
    /// The sidecar is wrong.
    #[error("this is a defect of the sidecar, please report it: leader election")]
    Election(#[source] Impossible),
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
    let work = run_until(settings, stopping.clone());
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        result = &mut work => return result,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: no new calls; running ones may end");
    stopping.cancel();
    tokio::select! {
        biased;
        result = &mut work => return result,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::warn!("told twice to stop: stopping at once, the next start waits for the calls that run");
    Ok(())
}

/// Runs until `stopping` is cancelled – then no new call is begun but for what gone objects left, and running ones may end –, or
/// until something is so wrong that a person must look.
///
/// # Errors
///
/// [`RunError`] says what.
pub async fn run_until(settings: Settings, stopping: CancellationToken) -> Result<(), RunError> {
    run_in::<Lifecycle>(Arc::new(Host), settings, stopping).await
}

/// As [`run_until`], in another environment than this host, and with machines that may have a defect on purpose. If the future
/// is dropped, the process has died.
///
/// # Errors
///
/// [`RunError`] says what.
pub async fn run_in<M: Machines>(
    env: Env,
    settings: Settings,
    stopping: CancellationToken,
) -> Result<(), RunError> {
    let terms = settings.terms()?;
    let mut candidacy = Candidacy::new(Arc::clone(&env), &settings);
    let clients = env.clients(&settings, candidacy.tenure()).await?;
    let queues = Arc::<Queues<M>>::default();
    let on_connect = {
        let queues = Arc::clone(&queues);
        move || queues.wake_all(Wake::CONNECTED)
    };
    let expected = settings.driver_name.clone();
    let (driver, following) = follow(
        Arc::clone(&env),
        settings.driver_endpoint.clone(),
        expected.clone(),
        settings.timeout,
        candidacy.tenure().clone(),
        on_connect,
    );
    let mut following = std::pin::pin!(following);
    let name = tokio::select! {
        biased;
        ended = &mut following => return Err(ended.into()),
        () = stopping.cancelled() => return Ok(()),
        name = async { match expected { Some(name) => Some(name), None => driver.name().await } } => name,
    };
    let Some(name) = name else { return Err(RunError::TaskEnded("driver connection")) };
    candidacy.stand(&settings, terms, &clients, name.as_str());
    let since = tokio::select! {
        biased;
        ended = &mut following => return Err(ended.into()),
        () = stopping.cancelled() => {
            candidacy.resign().await;
            return Ok(());
        }
        since = candidacy.won() => since?,
    };
    let life = Life { since, tenure: candidacy.tenure().clone(), stopping, env };
    let parts = Parts::new(&settings, clients.work, name.as_str(), driver, &queues, &life);
    act(&settings, &parts, &queues, candidacy, &life.stopping, following).await
}

/// Does the work of a leader until told to stop, or until the lease is lost.
async fn act<M: Machines>(
    settings: &Settings,
    parts: &Parts<M>,
    queues: &Queues<M>,
    mut candidacy: Candidacy,
    stopping: &CancellationToken,
    following: impl Future<Output = Ended>,
) -> Result<(), RunError> {
    let mut pool = JoinSet::new();
    parts.buckets.start(settings.worker_threads, &mut pool);
    parts.accesses.start(settings.worker_threads, &mut pool);
    let mut feeding = std::pin::pin!(feed(parts, queues, following));
    // A running call may be followed by the one that undoes it.
    let bound = settings.timeout * 2 + RECORDING_TIME;
    let lost = tokio::select! {
        biased;
        error = &mut feeding => return Err(error),
        all_ended = drain(&mut pool, stopping, bound) => {
            if all_ended? {
                candidacy.resign().await;
            }
            return Ok(());
        }
        lost = candidacy.lost() => lost,
    };
    stopping.cancel();
    tokio::select! {
        biased;
        error = &mut feeding => return Err(error),
        all_ended = drain(&mut pool, stopping, bound) => all_ended?,
    };
    Err(lost)
}

/// What the workers live on: watches, timers, the driver's connection. None of it ever ends.
async fn feed<M: Machines>(
    parts: &Parts<M>,
    queues: &Queues<M>,
    following: impl Future<Output = Ended>,
) -> RunError {
    let Parts { buckets, accesses } = parts;
    let now = || buckets.env.now();
    tokio::select! {
        biased;
        ended = following => ended.into(),
        () = watch(&buckets.effects.buckets, &buckets.effects.index, buckets) => {
            RunError::TaskEnded("watch of Buckets")
        }
        () = watch(&accesses.effects.accesses, &accesses.effects.index, accesses) => {
            RunError::TaskEnded("watch of BucketAccesses")
        }
        () = queues.buckets.run_timers(now) => RunError::TaskEnded("timers of Buckets"),
        () = queues.accesses.run_timers(now) => RunError::TaskEnded("timers of BucketAccesses"),
    }
}

/// Waits for the workers. They end only when told to, and then each after its running call; not longer than `bound`. Says
/// whether all have ended.
async fn drain(
    pool: &mut JoinSet<Result<(), Defect>>,
    stopping: &CancellationToken,
    bound: Duration,
) -> Result<bool, RunError> {
    let late = async {
        stopping.cancelled().await;
        tokio::time::sleep(bound).await;
    };
    let mut late = std::pin::pin!(late);
    loop {
        let ended = tokio::select! {
            biased;
            ended = pool.join_next() => ended,
            () = &mut late => {
                tracing::warn!("stopping though calls are still running; the next start waits for them");
                return Ok(false);
            }
        };
        match ended {
            None => return Ok(true),
            Some(Ok(Ok(()))) if stopping.is_cancelled() => {}
            Some(Ok(Ok(())) | Err(_)) => return Err(RunError::TaskEnded("worker")),
            Some(Ok(Err(defect))) => return Err(defect.into()),
        }
    }
}
