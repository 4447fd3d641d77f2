//! The HTTP side of the S3 server.

use std::{io, sync::Arc, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
};
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{access::Gate, accounts::Accounts, visit::Buckets};
use crate::store::{KeyPair, Store};

/// How long requests that run at shutdown may take to end.
const DRAIN: Duration = Duration::from_secs(5);
/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// The service behind the listener.
#[derive(Clone, Debug)]
pub struct S3Server(S3Service);

impl S3Server {
    /// Serves the buckets of `store` to its accounts and to the operator, path style.
    #[must_use]
    pub fn new(store: Arc<Store>, operator: KeyPair) -> Self {
        let accounts = Accounts::new(operator, Arc::clone(&store));
        let mut builder = S3ServiceBuilder::new(Buckets::new(store, accounts.clone()));
        // Without an authenticator s3s asks no access check either.
        builder.set_auth(accounts.clone());
        builder.set_access(Gate::new(accounts));
        Self(builder.build())
    }
}

/// Serves S3 until `stop` is cancelled, then lets running requests end.
///
/// # Errors
/// When the listener fails for good.
pub async fn serve(listener: TcpListener, server: S3Server, stop: CancellationToken) -> io::Result<()> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let connections = GracefulShutdown::new();
    loop {
        let socket = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => socket,
                Err(e) if is_passing(&e) => {
                    tracing::warn!(error = %e, "an S3 connection wasn't accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
                Err(e) => return Err(e),
            },
            () = stop.cancelled() => break,
        };
        let connection = http.serve_connection(TokioIo::new(socket), server.0.clone()).into_owned();
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(e) = connection.await {
                tracing::debug!(error = e, "an S3 connection broke");
            }
        });
    }
    if timeout(DRAIN, connections.shutdown()).await.is_err() {
        tracing::warn!("S3 requests were still running at shutdown");
    }
    Ok(())
}

/// Of one connection, or of a moment (no file descriptors left): the listener itself goes on.
fn is_passing(e: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    const TOO_MANY_FILES: [i32; 2] = [23, 24];
    matches!(e.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
        || e.raw_os_error().is_some_and(|code| TOO_MANY_FILES.contains(&code))
}
