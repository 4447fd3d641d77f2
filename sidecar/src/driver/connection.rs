//! The connection: made when the driver is there, made again when it comes back, and never to another driver.
//!
//! One [`Channel`] serves one connection. It never reconnects by itself: what was learnt of a driver – its name, its missing
//! RPCs – holds for one connection only, and only so can "not sent" be told from "no answer".

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cosi_api::value::DriverName;
use cosi_lifecycle::{Code, Failure, Rpc, Time};
use cosi_proto::v1alpha2::DriverGetInfoRequest;
use cosi_proto::v1alpha2::identity_client::IdentityClient;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::transport::{Channel, Endpoint};

use super::{Call, Identity, IdentityError, Limits};
use crate::environment::{Env, Environment, Stream};
use crate::lease::{LeaseLost, Tenure};

/// Between two tries to connect.
const RECONNECT_EVERY: Duration = Duration::from_millis(250);

/// gRPC messages travel in headers; drivers have been seen to send 40 KiB of text.
const LARGEST_HEADERS: u32 = 1 << 20;

/// A driver, whether it is there or not.
#[derive(Clone, Debug)]
pub struct Driver {
    current: watch::Receiver<Option<Connection>>,
    deadline: Duration,
    tenure: Tenure,
    env: Env,
}

/// One connection to the driver.
#[derive(Clone, Debug)]
struct Connection {
    identity: Identity,
    channel: Channel,
    /// It answered UNIMPLEMENTED to these.
    missing: Arc<Mutex<BTreeSet<Rpc>>>,
}

/// Why no connection could be made.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The socket is not there, or nobody listens.
    #[error("cannot connect to the driver's socket {}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no gRPC server.
    #[error("the driver's socket does not speak gRPC")]
    Handshake(#[source] tonic::transport::Error),
    /// DriverGetInfo failed.
    #[error("DriverGetInfo failed ({}): {}", Code::from_number(.0.code().into()), .0.message())]
    GetInfo(Box<tonic::Status>),
    /// DriverGetInfo did not answer.
    #[error("DriverGetInfo did not answer within {}", humantime::format_duration(*.0))]
    GetInfoTimeout(Duration),
    /// DriverGetInfo answered nonsense.
    #[error("DriverGetInfo answered against the protocol")]
    Identity(#[from] IdentityError),
}

/// Following the driver has come to an end.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// Another driver answers at the socket (C42).
    #[error(
        "the driver at the socket is {found}, but this sidecar looks after the objects of {expected}; \
         restart the sidecar if the change is meant"
    )]
    OtherDriver {
        /// The name it was, or was to be.
        expected: DriverName,
        /// The name that it gives itself now.
        found: DriverName,
    },
}

impl Driver {
    /// Waits until the driver has been reached, for as long as it takes, and returns its name. `None`: following it has
    /// ended.
    pub async fn name(&self) -> Option<DriverName> {
        let mut current = self.current.clone();
        let connection = current.wait_for(Option::is_some).await.ok()?;
        connection.as_ref().map(|c| c.identity.name.clone())
    }

    /// Calls the driver, with the configured deadline, if this process may act.
    ///
    /// # Errors
    ///
    /// [`Failure`] says what became of the call.
    pub async fn call<C: Call>(&self, call: C) -> Result<C::Ok, Failure> {
        match self.tenure.end() {
            Some(end) => self.send(call, end).await,
            None => Err(Failure::NotSent { message: LeaseLost.to_string() }),
        }
    }

    /// Calls the driver although the lease is lost.
    ///
    /// # Errors
    ///
    /// As [`Driver::call`].
    pub async fn last_will<C: Call>(&self, call: C) -> Result<C::Ok, Failure> {
        self.send(call, Time::at(Duration::MAX)).await
    }

    async fn send<C: Call>(&self, call: C, lease_end: Time) -> Result<C::Ok, Failure> {
        let connection = self.current.borrow().clone();
        let Some(connection) = connection else {
            return Err(Failure::NotSent { message: "it is not connected".to_owned() });
        };
        let rpc = call.rpc();
        let limits = Limits::new(self.deadline, self.env.now(), lease_end);
        let result = super::call::send(connection.channel, call, limits).await;
        if matches!(&result, Err(Failure::Answered { code: Code::Unimplemented, .. })) {
            connection.missing.lock().unwrap_or_else(PoisonError::into_inner).insert(rpc);
        }
        result
    }

    /// Whether the driver, in its current connection, answered UNIMPLEMENTED to that RPC.
    #[must_use]
    pub fn lacks(&self, rpc: Rpc) -> bool {
        let current = self.current.borrow();
        // Nothing panics while the lock is held.
        current
            .as_ref()
            .is_some_and(|c| c.missing.lock().unwrap_or_else(PoisonError::into_inner).contains(&rpc))
    }
}

/// Makes a driver of which nothing is known yet, and the work that keeps connecting to it: poll that for ever.
/// `on_connect` is called after each new connection.
pub fn follow(
    env: Env,
    path: PathBuf,
    expected: Option<DriverName>,
    deadline: Duration,
    tenure: Tenure,
    on_connect: impl Fn(),
) -> (Driver, impl Future<Output = Ended>) {
    let (sender, current) = watch::channel(None);
    let driver = Driver { current, deadline, tenure, env: Arc::clone(&env) };
    (driver, keep_connected(env, path, expected, deadline, sender, on_connect))
}

async fn keep_connected(
    env: Env,
    path: PathBuf,
    mut expected: Option<DriverName>,
    deadline: Duration,
    current: watch::Sender<Option<Connection>>,
    on_connect: impl Fn(),
) -> Ended {
    let mut trouble = None;
    loop {
        match connect(&*env, &path, deadline).await {
            Ok((connection, lost)) => {
                let found = connection.identity.name.clone();
                if let Some(expected) = expected.filter(|e| *e != found) {
                    return Ended::OtherDriver { expected, found };
                }
                tracing::info!(driver = %found, "connected to the driver");
                trouble = None;
                expected = Some(found);
                current.send_replace(Some(connection));
                on_connect();
                lost.cancelled().await;
                current.send_replace(None);
                tracing::warn!("the connection to the driver is lost");
            }
            Err(error) => {
                let text = crate::chain(&error);
                if trouble.as_ref() != Some(&text) {
                    tracing::warn!("waiting for the driver: {text}");
                    trouble = Some(text);
                }
            }
        }
        sleep(RECONNECT_EVERY).await;
    }
}

/// One connection, and the token that is cancelled when it is lost.
async fn connect(
    env: &dyn Environment,
    path: &Path,
    deadline: Duration,
) -> Result<(Connection, CancellationToken), DriverError> {
    let stream =
        env.dial(path).await.map_err(|source| DriverError::Connect { path: path.to_owned(), source })?;
    let lost = CancellationToken::new();
    let mut once = Some(Watched { stream: TokioIo::new(stream), _guard: lost.clone().drop_guard() });
    let connector = tower::service_fn(move |_| std::future::ready(once.take().ok_or(Spent)));
    let channel = Endpoint::from_static("http://driver.invalid")
        .http2_max_header_list_size(LARGEST_HEADERS)
        .connect_with_connector(connector)
        .await
        .map_err(DriverError::Handshake)?;
    let mut request = tonic::Request::new(DriverGetInfoRequest {});
    request.set_timeout(deadline);
    let info = timeout(deadline, IdentityClient::new(channel.clone()).driver_get_info(request))
        .await
        .map_err(|_| DriverError::GetInfoTimeout(deadline))?
        .map_err(|status| DriverError::GetInfo(Box::new(status)))?;
    let identity = Identity::of(info.into_inner())?;
    Ok((Connection { identity, channel, missing: Arc::default() }, lost))
}

/// The channel asked for a second connection: the request that made it ask was never sent.
#[derive(Debug, thiserror::Error)]
#[error("the connection is spent")]
pub(super) struct Spent;

/// A stream that tells when it is dropped, which the HTTP library does as soon as the connection is of no more use.
struct Watched {
    stream: TokioIo<Pin<Box<dyn Stream>>>,
    _guard: DropGuard,
}

mod io {
    //! Passes reads and writes through.

    use std::io::{IoSlice, Result};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper_util::rt::TokioIo;

    use super::Watched;

    impl hyper::rt::Read for Watched {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: hyper::rt::ReadBufCursor<'_>,
        ) -> Poll<Result<()>> {
            Pin::new(&mut self.stream).poll_read(cx, buf)
        }
    }

    impl hyper::rt::Write for Watched {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
            Pin::new(&mut self.stream).poll_write(cx, buf)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
            Pin::new(&mut self.stream).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(cx)
        }

        fn is_write_vectored(&self) -> bool {
            TokioIo::is_write_vectored(&self.stream)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<Result<usize>> {
            Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
        }
    }
}
