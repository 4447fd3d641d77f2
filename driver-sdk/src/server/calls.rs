//! How a call runs: alone for its name, in a task of its own, to its end.
//!
//! The transport drops the future that serves a call when the caller's timeout passes or the caller goes away. The driver's
//! work goes on behind that, so the name must stay taken: the work, and the claim on the name with it, belong to a task that
//! nobody drops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Response, Status};
use tracing::{Instrument as _, error, info, info_span, warn};

use super::lateness::{NotAfter, boottime, timeout};
use crate::context::CallContext;
use crate::driver::Driver;
use crate::error::DriverError;
use crate::guard::{Claim, Guards, Key};
use crate::intercept::{CallEnd, CallInfo, Interceptor, Peer};

/// What a call is about.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) info: CallInfo,
    started: Instant,
    /// What the call works on.
    pub(crate) keys: Vec<Key>,
}

impl Plan {
    /// A call that has just arrived, and what it asks.
    pub(crate) fn of<T>(rpc: &'static str, request: Request<T>) -> (Self, T) {
        let (metadata, extensions, message) = request.into_parts();
        let peer = extensions.get::<UdsConnectInfo>().and_then(|connection| connection.peer_cred);
        let peer = peer.map(|peer| Peer { uid: peer.uid(), gid: peer.gid(), pid: peer.pid() });
        let info = CallInfo { rpc, subject: String::new(), peer, metadata };
        (Self { info, started: Instant::now(), keys: Vec::new() }, message)
    }
}

/// All calls of one server.
#[derive(Clone)]
pub(crate) struct Calls {
    driver: Arc<dyn Driver>,
    interceptors: Arc<[Box<dyn Interceptor>]>,
    guards: Guards,
    tracker: TaskTracker,
    closed: Arc<AtomicBool>,
}

/// A call that may begin. Its claim ends with it.
pub(crate) struct Running {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) context: CallContext,
    pub(crate) claim: Claim,
}

impl Calls {
    pub(crate) fn new(driver: Arc<dyn Driver>, interceptors: Vec<Box<dyn Interceptor>>) -> Self {
        Self {
            driver,
            interceptors: interceptors.into(),
            guards: Guards::default(),
            tracker: TaskTracker::new(),
            closed: Arc::default(),
        }
    }

    /// Asks the driver something that it knows without waiting.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&dyn Driver) -> T) -> Result<T, DriverError> {
        catch_unwind(AssertUnwindSafe(|| question(&*self.driver))).map_err(|_| panicked())
    }

    /// From now on, no call begins.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.tracker.close();
    }

    /// Waits until the last call has ended.
    pub(crate) async fn ended(&self) {
        self.tracker.wait().await;
    }

    /// How many calls run.
    pub(crate) fn running(&self) -> usize {
        self.tracker.len()
    }

    /// Runs `work` to its end, if nothing else runs for the plan's keys, and gives its answer if the caller still waits
    /// for it.
    pub(crate) async fn run<A, W, F>(&self, plan: Plan, work: W) -> Result<Response<A>, Status>
    where
        A: Send + 'static,
        W: FnOnce(Running) -> F + Send + 'static,
        F: Future<Output = Result<A, DriverError>> + Send,
    {
        // Counted before it is asked whether the server is open, so that a call is either waited for or refused.
        let counted = self.tracker.token();
        let abandoned = CancellationToken::new();
        let (running, not_after) = match self.admit(&plan, &abandoned) {
            Ok(admitted) => admitted,
            Err(error) => return Err(self.refuse(&plan, error)),
        };
        let span = info_span!("call", rpc = plan.info.rpc, name = %plan.info.subject);
        let (calls, caller) = (self.clone(), abandoned.clone());
        let task = async move {
            let outcome = match not_after.check(boottime()) {
                Ok(()) => AssertUnwindSafe(async move { work(running).await }).catch_unwind().await,
                Err(late) => Ok(Err(late)),
            };
            // What a panic says is for the driver's own log; it may hold anything.
            let outcome = outcome.unwrap_or_else(|_| Err(panicked()));
            calls.ended_with(&plan, outcome.as_ref().err(), caller.is_cancelled());
            drop(counted);
            outcome
        };
        let task = tokio::spawn(task.instrument(span));
        let _tells_the_driver = abandoned.drop_guard();
        task.await.unwrap_or_else(|_| Err(panicked())).map(Response::new).map_err(Status::from)
    }

    fn admit(&self, plan: &Plan, abandoned: &CancellationToken) -> Result<(Running, NotAfter), DriverError> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(DriverError::unavailable("the driver is shutting down; nothing was done"));
        }
        for interceptor in &*self.interceptors {
            catch_unwind(AssertUnwindSafe(|| interceptor.before(&plan.info))).map_err(|_| panicked())??;
        }
        let metadata = &plan.info.metadata;
        let not_after = NotAfter::from_metadata(metadata)?;
        let claim = self.guards.claim(plan.keys.iter().cloned())?;
        let context = CallContext::new(timeout(metadata), abandoned.clone());
        Ok((Running { driver: Arc::clone(&self.driver), context, claim }, not_after))
    }

    /// A call that the driver never sees.
    pub(crate) fn refuse(&self, plan: &Plan, error: DriverError) -> Status {
        self.ended_with(plan, Some(&error), false);
        error.into()
    }

    /// A call has ended: the one place that says so, to the log and to the interceptors.
    pub(crate) fn ended_with(&self, plan: &Plan, error: Option<&DriverError>, abandoned: bool) {
        let end = CallEnd { error, took: plan.started.elapsed(), abandoned };
        trace(&plan.info, &end);
        for interceptor in &*self.interceptors {
            if catch_unwind(AssertUnwindSafe(|| interceptor.after(&plan.info, &end))).is_err() {
                error!(rpc = plan.info.rpc, "an interceptor panicked");
            }
        }
    }
}

fn trace(call: &CallInfo, end: &CallEnd<'_>) {
    let (rpc, name, duration_ms) = (call.rpc, call.subject.as_str(), end.took.as_millis());
    match end.error {
        None => info!(rpc, name, code = "Ok", duration_ms, "call ended"),
        Some(error) => {
            let (code, message) = (error.kind().code(), error.message());
            warn!(rpc, name, ?code, message, duration_ms, "call failed");
        }
    }
}

fn panicked() -> DriverError {
    DriverError::internal("the driver panicked in this call; its log says more")
}
