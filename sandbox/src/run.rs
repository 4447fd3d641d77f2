//! Puts the parts together and watches over them.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use clap::Parser as _;
use cosi_apiserver::ApiServer;
use cosi_sample_driver::run::{Bound, RunError};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kube::{Api, Client};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use crate::controller;
use crate::folder::Folder;
use crate::guide::Guide;
use crate::settings::Settings;

/// Between two looks at whether the sidecar leads.
const POLL: Duration = Duration::from_millis(20);

/// Why the sandbox gives up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The folder cannot be used.
    #[error("cannot use the folder {} (--dir)", .0.display())]
    Folder(PathBuf, #[source] io::Error),
    /// The driver would be open to others.
    #[error("--s3-listen {0} is no loopback address: others could reach the S3 server")]
    Open(SocketAddr),
    /// The API server does not start.
    #[error("the API server does not start (--listen)")]
    ApiServer(#[from] cosi_apiserver::ServeError),
    /// The definitions of COSI's kinds that are built in are broken.
    #[error("the definitions of COSI's kinds cannot be used")]
    Kinds(#[from] cosi_apiserver::schema::CatalogueError),
    /// A flag of a part was not understood.
    #[error("a part of the sandbox refuses its settings")]
    Settings(#[from] clap::Error),
    /// The operating system does not let us wait for signals.
    #[error("cannot wait for signals")]
    Signals(#[source] io::Error),
    /// The controller ended.
    #[error("the controller stopped")]
    Controller,
    /// The driver ended.
    #[error("the driver stopped")]
    Driver(#[source] Box<RunError>),
    /// The sidecar ended.
    #[error("the sidecar stopped")]
    Sidecar(#[source] Box<cosi_sidecar::RunError>),
}

/// Runs until SIGINT or SIGTERM, or until a part breaks.
///
/// # Errors
///
/// [`SandboxError`] says what is wrong.
pub async fn run(settings: &Settings) -> Result<(), SandboxError> {
    // Before anything is made, so that a signal finds somebody who cleans up.
    let told = told_to_stop().map_err(SandboxError::Signals)?;
    let folder = Folder::open(settings.dir.as_deref());
    let folder = folder.map_err(|e| SandboxError::Folder(settings.dir.clone().unwrap_or_default(), e))?;
    log_to(&folder, settings.log_level)?;
    if !settings.s3_listen.ip().is_loopback() {
        return Err(SandboxError::Open(settings.s3_listen));
    }
    let api_server = api_server()?;
    let server = cosi_apiserver::serve(api_server.clone(), settings.listen).await?;
    let written = folder.write_kubeconfig(&server.kubeconfig());
    written.map_err(|e| SandboxError::Folder(folder.kubeconfig(), e))?;
    say(&format!("An API server in memory listens at {}; starting driver and sidecar.", server.url()));
    let client = Client::new(api_server, "default");
    let result = parts(settings, &folder, client, told).await;
    say("\nStopped. Everything that was in the API server is gone.");
    result
}

/// Waits until the process is to end. Signals count from now on.
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}

/// To whoever reads it; if nobody does, that is no reason to end.
fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

async fn parts(
    settings: &Settings,
    folder: &Folder,
    client: Client,
    told: impl Future<Output = ()>,
) -> Result<(), SandboxError> {
    let (stop, stop_driver) = (CancellationToken::new(), CancellationToken::new());
    let driver = Bound::bind(&driver_settings(folder, settings.s3_listen)?).await.map_err(stopped)?;
    let s3 = driver.s3_address();
    let mut driver = Box::pin(driver.run_until(stop_driver.cancelled()));
    let mut sidecar = Box::pin(sidecar(sidecar_settings(folder)?, stop.clone()));
    let others = async {
        if settings.no_controller {
            std::future::pending::<()>().await;
        }
        controller::run(client.clone()).await;
    };
    let guide = async {
        leading(&client).await;
        say(&Guide { folder, s3, has_controller: !settings.no_controller }.to_string());
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = told => {}
        () = guide => {}
        () = others => return Err(SandboxError::Controller),
        ended = &mut driver => return ended.map_err(stopped),
        ended = &mut sidecar => return ended,
    }
    // The driver last: a call that runs may end.
    stop.cancel();
    sidecar.await?;
    stop_driver.cancel();
    driver.await.map_err(stopped)
}

fn stopped(error: RunError) -> SandboxError {
    SandboxError::Driver(Box::new(error))
}

/// Runs the sidecar and, as Kubernetes does, starts it again when it has lost its lease: somebody deleted it, or the machine
/// slept for a while.
async fn sidecar(
    settings: cosi_sidecar::settings::Settings,
    stop: CancellationToken,
) -> Result<(), SandboxError> {
    loop {
        match Box::pin(cosi_sidecar::run_until(settings.clone(), stop.clone())).await {
            Err(error @ cosi_sidecar::RunError::LeaseLost(_)) if !stop.is_cancelled() => {
                tracing::warn!("the sidecar ended and is started again: {}", cosi_sidecar::chain(&error));
            }
            Err(cosi_sidecar::RunError::LeaseLost(_)) | Ok(()) => return Ok(()),
            Err(error) => return Err(SandboxError::Sidecar(Box::new(error))),
        }
    }
}

/// An API server of which no second one makes the same UIDs.
fn api_server() -> Result<ApiServer, SandboxError> {
    let settings = cosi_apiserver::Settings { seed: rand::random(), ..cosi_apiserver::Settings::default() };
    Ok(ApiServer::new(settings)?)
}

/// Waits until the sidecar leads. What it finds when it begins, it treats as what a predecessor may have begun (R3), and waits
/// until that must have ended: a newcomer's first objects need not go through that.
async fn leading(client: &Client) {
    let leases = Api::<Lease>::default_namespaced(client.clone());
    let held = async || {
        let all = leases.list(&ListParams::default()).await.map(|all| all.items).unwrap_or_default();
        all.into_iter().any(|lease| lease.spec.and_then(|spec| spec.holder_identity).is_some())
    };
    while !held().await {
        tokio::time::sleep(POLL).await;
    }
}

fn driver_settings(
    folder: &Folder,
    s3: SocketAddr,
) -> Result<cosi_sample_driver::settings::Settings, clap::Error> {
    let endpoint = format!("--endpoint=unix://{}", folder.socket().display());
    let data = format!("--data-dir={}", folder.data().display());
    let listen = format!("--s3-listen={s3}");
    cosi_sample_driver::settings::Settings::try_parse_from(["sample-driver", &endpoint, &data, &listen])
}

fn sidecar_settings(folder: &Folder) -> Result<cosi_sidecar::settings::Settings, clap::Error> {
    let endpoint = format!("--driver-endpoint=unix://{}", folder.socket().display());
    let kubeconfig = format!("--kubeconfig={}", folder.kubeconfig().display());
    cosi_sidecar::settings::Settings::try_parse_from([
        "sidecar",
        &endpoint,
        &kubeconfig,
        // The driver is beside it, and quick.
        "--timeout=5s",
        "--late-landing-grace=1s",
        // Who plays with a Secret should not have to wait for half an hour until that is noticed.
        "--recheck-interval=10s",
    ])
}

fn log_to(folder: &Folder, level: LevelFilter) -> Result<(), SandboxError> {
    let file: File = folder.create_log().map_err(|e| SandboxError::Folder(folder.log(), e))?;
    tracing_subscriber::fmt().with_max_level(level).with_ansi(false).with_writer(Mutex::new(file)).init();
    Ok(())
}
