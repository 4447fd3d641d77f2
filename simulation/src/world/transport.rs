//! The way to the API server as bytes: HTTP over memory. A sample of the runs takes it; the others skip what it costs.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::client::Body;
use tokio::io::DuplexStream;
use tower::Service;

use super::wire::Wire;

/// How many bytes are under way at most in each direction.
const BUFFER: usize = 64 * 1024;

/// A connection.
pub(super) struct Pipe(TokioIo<DuplexStream>);

/// Makes connections; at the other end of each is the wire.
#[derive(Clone, Debug)]
pub(super) struct Connector(Wire);

/// The wire, behind HTTP.
pub(super) fn over_http(wire: Wire) -> Client<Connector, Body> {
    Client::builder(TokioExecutor::new()).build(Connector(wire))
}

impl Service<Uri> for Connector {
    type Response = Pipe;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<Pipe>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let (near, far) = tokio::io::duplex(BUFFER);
        let wire = self.0.clone();
        let answers = service_fn(move |request: http::Request<Incoming>| wire.clone().serve(request));
        // It ends when its client goes, and with an error when an answer is lost: as it is to be.
        let serving = http1::Builder::new().serve_connection(TokioIo::new(far), answers);
        tokio::spawn(async move { drop(serving.await) });
        std::future::ready(Ok(Pipe(TokioIo::new(near))))
    }
}

impl Connection for Pipe {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl Write for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
