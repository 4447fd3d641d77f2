//! What a sidecar sees of the world.

use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cosi_apiserver::Clock as _;
use cosi_lifecycle::Time;
use cosi_sidecar::cluster::{Clients, ConnectError};
use cosi_sidecar::environment::{Environment, Stream};
use cosi_sidecar::lease::{Tenure, guard};
use cosi_sidecar::settings::Settings;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response, Uri};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use kube::client::middleware::BaseUriLayer;
use rand::RngCore as _;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tower::{BoxError, Layer as _, Service};

use super::processes::host;
use super::transport::over_http;
use super::wire::Wire;
use super::{Calendar, World};
use crate::bugs;

/// Of so many runs, one has HTTP between sidecar and API server.
const OVER_HTTP: u64 = 32;

/// One life of one sidecar process.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) world: Arc<World>,
    pub(super) process: usize,
    /// When this life began.
    pub(super) started: Time,
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Life({})", self.process)
    }
}

impl Environment for Life {
    fn now(&self) -> Time {
        self.world.now()
    }

    fn wall(&self) -> Timestamp {
        Calendar { begun: self.world.begun }.now()
    }

    fn random(&self) -> u64 {
        // A step begins so: with chance for its jitter.
        bugs::steps(self.started);
        self.world.lock().chance.next_u64()
    }

    fn host(&self) -> String {
        host(self.process)
    }

    fn clients<'a>(
        &'a self,
        _: &'a Settings,
        tenure: &'a Tenure,
    ) -> BoxFuture<'a, Result<Clients, ConnectError>> {
        self.world.is_given(self.process, tenure);
        let wire = Wire::new(self.clone());
        let clients = if self.world.schedule.seed % OVER_HTTP == 1 {
            let whole = BaseUriLayer::new(Uri::from_static("http://simulated"));
            clients_over(whole.layer(over_http(wire)), tenure)
        } else {
            clients_over(wire, tenure)
        };
        std::future::ready(Ok(clients)).boxed()
    }

    fn dial<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, io::Result<Pin<Box<dyn Stream>>>> {
        let stream = self.world.driver.connect();
        let life = self.clone();
        std::future::ready(stream.map(|stream| Box::pin(Held::new(stream, life)) as Pin<Box<dyn Stream>>))
            .boxed()
    }
}

fn clients_over<S, B>(way: S, tenure: &Tenure) -> Clients
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let work = Client::new(guard(tenure.clone()).layer(way.clone()), "default");
    Clients { work, lease: Client::new(way, "default") }
}

/// A connection to the driver. While its process stands still, nothing gets out and nothing gets in.
///
/// A process that wakes up sends what it was about to send, and finds out only then that its time is over. Here its timers have
/// run meanwhile, and it may even have ended; so what was about to be sent when it fell asleep is sent first, and reaches the
/// driver, whatever was to follow.
struct Held {
    stream: DuplexStream,
    life: Life,
    wait: Option<BoxFuture<'static, ()>>,
    /// So many bytes were about to be sent when the process fell asleep.
    about_to: Option<usize>,
}

/// Between what was about to be sent and what follows: long enough for the driver to take note.
const BREATH: Duration = Duration::from_millis(1);

impl Held {
    fn new(stream: DuplexStream, life: Life) -> Self {
        Self { stream, life, wait: None, about_to: None }
    }

    fn poll_moving(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.wait.is_none() && self.life.world.is_paused(self.life.process) {
            let life = self.life.clone();
            let under_way = life.world.under_way();
            self.wait = Some(
                async move {
                    life.world.hold(life.process).await;
                    drop(under_way);
                }
                .boxed(),
            );
        }
        if let Some(wait) = &mut self.wait {
            std::task::ready!(wait.poll_unpin(cx));
            self.wait = None;
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        std::task::ready!(self.poll_moving(cx));
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Held {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.life.world.fall_asleep(self.life.process) {
            self.about_to = Some(buf.len());
        }
        std::task::ready!(self.poll_moving(cx));
        let Some(first) = self.about_to.take().and_then(|length| buf.get(..length)) else {
            return Pin::new(&mut self.stream).poll_write(cx, buf);
        };
        let sent = Pin::new(&mut self.stream).poll_write(cx, first);
        self.wait = Some(tokio::time::sleep(BREATH).boxed());
        sent
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
