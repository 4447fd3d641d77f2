//! What is outside of this process: time, chance, and the ways to the API server and to the driver.
//!
//! Everything that could differ between two runs comes in here, so that the simulation can put a world of its own around the
//! whole sidecar.

use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cosi_lifecycle::Time;
use futures::future::BoxFuture;
use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;

use crate::cluster::{Clients, ConnectError, connect};
use crate::lease::Tenure;
use crate::settings::Settings;

/// What is outside of this process.
pub trait Environment: fmt::Debug + Send + Sync {
    /// This process's own clock. It goes on while the machine sleeps, and its origin is that of the driver's (R15).
    fn now(&self) -> Time;

    /// The time of day, for people. Nothing is decided by it.
    fn wall(&self) -> Timestamp;

    /// Sixty-four random bits.
    fn random(&self) -> u64;

    /// What the host is called, for people.
    fn host(&self) -> String;

    /// Clients of the API server; the one for work lets no write out unless `tenure` says that this process may act. Nothing
    /// is sent yet.
    fn clients<'a>(
        &'a self,
        settings: &'a Settings,
        tenure: &'a Tenure,
    ) -> BoxFuture<'a, Result<Clients, ConnectError>>;

    /// Connects to the driver's socket.
    fn dial<'a>(&'a self, socket: &'a Path) -> BoxFuture<'a, io::Result<Pin<Box<dyn Stream>>>>;
}

/// A handle on it that everybody can have.
pub type Env = Arc<dyn Environment>;

/// Bytes to the driver and back.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// The host that this process runs on.
#[derive(Clone, Copy, Debug)]
pub struct Host;

impl Environment for Host {
    /// `CLOCK_BOOTTIME`.
    fn now(&self) -> Time {
        let now = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Time::at(Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default()))
    }

    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }

    fn random(&self) -> u64 {
        rand::random()
    }

    fn host(&self) -> String {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }

    fn clients<'a>(
        &'a self,
        settings: &'a Settings,
        tenure: &'a Tenure,
    ) -> BoxFuture<'a, Result<Clients, ConnectError>> {
        Box::pin(connect(settings, tenure))
    }

    fn dial<'a>(&'a self, socket: &'a Path) -> BoxFuture<'a, io::Result<Pin<Box<dyn Stream>>>> {
        Box::pin(async move {
            let stream = UnixStream::connect(socket).await?;
            Ok(Box::pin(stream) as Pin<Box<dyn Stream>>)
        })
    }
}
