//! Serves a driver on its socket.

mod about;
mod calls;
pub(crate) mod endpoint;
mod identity;
mod lateness;
mod provisioner;
pub(crate) mod socket;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cosi_proto::v1alpha2::identity_server::IdentityServer;
use cosi_proto::v1alpha2::provisioner_server::ProvisionerServer;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::server::Router;
use tracing::info;

use self::about::Condition;
use self::calls::Calls;
use self::endpoint::Endpoint;
use self::identity::IdentityService;
use self::provisioner::ProvisionerService;
use self::socket::{BindError, SocketFile, bind_socket};
use crate::driver::Driver;
use crate::intercept::Interceptor;
use crate::wire::answer;

/// Kubernetes gives 30 seconds between SIGTERM and SIGKILL; this leaves some of them.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);
/// Owner and group may connect: the sidecar may run as another user.
const SOCKET_MODE: u32 = 0o660;
/// How long open connections get to take their last answer along.
const GOODBYE: Duration = Duration::from_secs(1);

/// A server for one driver. Set it up, then [`serve`](Self::serve), or [`bind`](Self::bind) and go on from there.
pub struct Server {
    driver: Arc<dyn Driver>,
    interceptors: Vec<Box<dyn Interceptor>>,
    drain_timeout: Duration,
    socket_mode: u32,
}

/// A server that listens on its socket but answers nobody yet. The socket goes when this is dropped.
pub struct BoundServer {
    calls: Calls,
    condition: Condition,
    router: Router,
    listener: UnixListener,
    socket: SocketFile,
    drain_timeout: Duration,
}

/// The server could not be started, or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The socket can't be had.
    #[error("make the driver's socket")]
    Bind(#[from] BindError),
    /// SIGTERM and SIGINT can't be waited for.
    #[error("listen for SIGTERM and SIGINT")]
    Signals(#[source] io::Error),
    /// The transport failed.
    #[error("serve the driver's socket")]
    Transport(#[source] tonic::transport::Error),
    /// The server's own task failed.
    #[error("run the driver's server")]
    Task(#[source] tokio::task::JoinError),
    /// Calls went on for longer than the server waits for them; they end, half-done perhaps, with the process.
    #[error("{calls} calls had not ended {} seconds after the driver was told to stop", .waited.as_secs_f32())]
    StillRunning {
        /// How many.
        calls: usize,
        /// How long it waited.
        waited: Duration,
    },
}

impl Server {
    /// A server for this driver.
    pub fn new(driver: impl Driver) -> Self {
        Self {
            driver: Arc::new(driver),
            interceptors: Vec::new(),
            drain_timeout: DRAIN_TIMEOUT,
            socket_mode: SOCKET_MODE,
        }
    }

    /// How long running calls may go on after the server was told to stop; 25 seconds by default.
    #[must_use]
    pub fn drain_timeout(mut self, limit: Duration) -> Self {
        self.drain_timeout = limit;
        self
    }

    /// The permission bits of the socket file; 0o660 by default. They are all that protects the socket.
    #[must_use]
    pub fn socket_mode(mut self, bits: u32) -> Self {
        self.socket_mode = bits;
        self
    }

    /// Has each call pass by this interceptor, after those that were added before.
    #[must_use]
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Box::new(interceptor));
        self
    }

    /// Serves until SIGTERM or SIGINT, then drains as [`BoundServer::run_until`] does.
    ///
    /// # Errors
    /// If the socket can't be had, the transport fails, or calls don't end in time.
    pub async fn serve(self, endpoint: &Endpoint) -> Result<(), ServeError> {
        // Before the socket is there: from then on a signal must not leave it behind.
        let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::Signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        self.bind(endpoint).await?.run_until(stop).await
    }

    /// Puts the socket in place; from here on, clients can connect and wait.
    ///
    /// # Errors
    /// If somebody else listens there, something else is there, or the socket can't be made (C40).
    pub async fn bind(self, endpoint: &Endpoint) -> Result<BoundServer, BindError> {
        let (listener, socket) = bind_socket(endpoint, self.socket_mode).await?;
        let driver_info = self.driver.info();
        info!(driver = driver_info.name(), %endpoint, "driver listens");
        let calls = Calls::new(self.driver, self.interceptors);
        let identity = IdentityService { calls: calls.clone(), info: answer::driver_info(&driver_info) };
        let (condition, health) = Condition::serving().await;
        let router = tonic::transport::Server::builder()
            .add_service(IdentityServer::new(identity))
            .add_service(ProvisionerServer::new(ProvisionerService::new(calls.clone(), driver_info)))
            .add_service(health)
            .add_service(about::reflection_v1().map_err(BindError::Reflection)?)
            .add_service(about::reflection_v1alpha().map_err(BindError::Reflection)?);
        Ok(BoundServer { calls, condition, router, listener, socket, drain_timeout: self.drain_timeout })
    }
}

impl BoundServer {
    /// Serves until `stop` resolves. Then new calls are answered UNAVAILABLE, the health service says NOT_SERVING, and calls
    /// that run, with or without somebody who waits for them, may go on for the drain timeout. The socket stays until they
    /// have ended, so that a successor does not start beside them.
    ///
    /// # Cancellation
    /// Dropping the future closes the socket; calls that run go on until the process ends.
    ///
    /// # Errors
    /// If the transport fails, or calls don't end in time.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Self { calls, condition, router, listener, socket, drain_timeout } = self;
        let quit = CancellationToken::new();
        let incoming = UnixListenerStream::new(listener);
        let server = router.serve_with_incoming_shutdown(incoming, quit.clone().cancelled_owned());
        let mut server = AbortOnDropHandle::new(tokio::spawn(server));
        tokio::select! {
            ended = &mut server => return ended.map_err(ServeError::Task)?.map_err(ServeError::Transport),
            () = stop => {}
        }
        calls.close();
        condition.stopping().await;
        info!(running = calls.running(), "driver stops: waits for the calls that run");
        let drained = timeout(drain_timeout, calls.ended()).await;
        let left = calls.running();
        quit.cancel();
        let goodbye = timeout(GOODBYE, server).await;
        drop(socket);
        if drained.is_err() {
            return Err(ServeError::StillRunning { calls: left, waited: drain_timeout });
        }
        // A client that keeps its connection open is no failure of ours.
        goodbye.map_or(Ok(()), |ended| ended.map_err(ServeError::Task)?.map_err(ServeError::Transport))
    }
}
