//! What a sidecar sees of the world.

use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use cosi_apiserver::Clock as _;
use cosi_lifecycle::Time;
use cosi_sidecar::cluster::{Clients, ConnectError};
use cosi_sidecar::environment::{Environment, Stream};
use cosi_sidecar::lease::{Tenure, guard};
use cosi_sidecar::settings::Settings;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use kube::Client;
use rand::RngCore as _;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tower::Layer as _;

use super::wire::Wire;
use super::{Calendar, World};

/// One life of one sidecar process.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) world: Arc<World>,
    pub(super) process: usize,
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
        self.world.lock().chance.next_u64()
    }

    fn host(&self) -> String {
        format!("host-{}", self.process)
    }

    fn clients<'a>(
        &'a self,
        _: &'a Settings,
        tenure: &'a Tenure,
    ) -> BoxFuture<'a, Result<Clients, ConnectError>> {
        let wire = Wire::new(self.clone());
        let work = Client::new(guard(tenure.clone()).layer(wire.clone()), "default");
        std::future::ready(Ok(Clients { work, lease: Client::new(wire, "default") })).boxed()
    }

    fn dial<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, io::Result<Pin<Box<dyn Stream>>>> {
        let stream = self.world.driver.connect();
        let life = self.clone();
        std::future::ready(
            stream.map(|stream| Box::pin(Held { stream, life, wait: None }) as Pin<Box<dyn Stream>>),
        )
        .boxed()
    }
}

/// A connection to the driver. While its process stands still, nothing gets out and nothing gets in.
struct Held {
    stream: DuplexStream,
    life: Life,
    wait: Option<BoxFuture<'static, ()>>,
}

impl Held {
    fn poll_moving(&mut self, cx: &mut Context<'_>, sends: bool) -> Poll<()> {
        if sends {
            self.life.world.fall_asleep(self.life.process);
        }
        if self.wait.is_none() && self.life.world.is_paused(self.life.process) {
            let life = self.life.clone();
            self.wait = Some(async move { life.world.hold(life.process).await }.boxed());
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
        std::task::ready!(self.poll_moving(cx, false));
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Held {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        std::task::ready!(self.poll_moving(cx, true));
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
