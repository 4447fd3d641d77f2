//! The API server on a socket, for kubectl and for other processes.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::{Request, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use crate::controllers;
use crate::http::{Answer, AnswerBody};
use crate::service::ApiServer;
use crate::status::Refusal;

/// How long to wait when no connection can be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Why the API server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Everybody who reaches it may do everything, so that it is for this machine only.
    #[error("{address} is not a loopback address")]
    NotLoopback {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("listening on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}

/// A listening API server. It ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Server {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base of all its addresses.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A kubeconfig for it.
    #[must_use]
    pub fn kubeconfig(&self) -> String {
        let url = self.url();
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: cosi\nclusters:\n- name: cosi\n  cluster:\n    server: {url}\nusers:\n- name: cosi\n  user: {{}}\ncontexts:\n- name: cosi\n  context:\n    cluster: cosi\n    user: cosi\n    namespace: default\n"
        )
    }

    /// Ends it, and waits until nobody is connected any more.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Listens on `address`, which must be a loopback address; port 0 takes a free one. The controllers work until it ends, so that
/// garbage is collected and namespaces are emptied.
///
/// # Errors
/// If the address is for others than this machine, or cannot be listened on.
pub async fn serve(server: ApiServer, address: SocketAddr) -> Result<Server, ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback { address });
    }
    let wrong = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    tasks.spawn(controllers::run(server.clone(), stop.clone()));
    tasks.spawn(accept(server, listener, stop.clone(), tasks.clone()));
    Ok(Server { address, stop, tasks })
}

async fn accept(server: ApiServer, listener: TcpListener, stop: CancellationToken, tasks: TaskTracker) {
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, say. In a while some may be free.
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let (server, stop) = (server.clone(), stop.clone());
        tasks.spawn(async move { stop.run_until_cancelled(connection(server, stream)).await });
    }
}

async fn connection(server: ApiServer, stream: TcpStream) {
    // Without it small answers wait 40 ms for an acknowledgement. It fails only on a dead socket.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| exchange(server.clone(), request));
    let ended = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = ended {
        tracing::debug!(%error, "a client's connection ended");
    }
}

async fn exchange(
    mut server: ApiServer,
    request: Request<Incoming>,
) -> Result<http::Response<AnswerBody>, std::convert::Infallible> {
    if is_local(&request) { server.call(request).await } else { Ok(misdirected()) }
}

/// A page of the web that a browser shows may not reach this server: neither under a name that it made point here, nor under
/// ours. Browsers say where a page that writes elsewhere is from; kubectl and other clients say nothing of the kind.
fn is_local(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    host_is_local(host) && !request.headers().contains_key(header::ORIGIN)
}

fn host_is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn misdirected() -> http::Response<AnswerBody> {
    let why = "this API server answers to loopback addresses only, and to no page of the web";
    Answer::refusal(&Refusal::other(421, why), false).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered_to() {
        for host in ["127.0.0.1:80", "localhost", "LOCALHOST:1", "[::1]:8080", "127.8.9.1"] {
            assert!(host_is_local(host), "{host}");
        }
        for host in ["", "example.org", "localhost.example.org", "10.0.0.1:80", "[::2]", "127.0.0.1.nip.io"] {
            assert!(!host_is_local(host), "{host}");
        }
    }

    #[tokio::test]
    async fn an_address_that_others_can_reach_is_refused() {
        let server = ApiServer::new(crate::Settings::default()).unwrap();
        let error = serve(server, "0.0.0.0:0".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.to_string(), "0.0.0.0:0 is not a loopback address");
    }
}
