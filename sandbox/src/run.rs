//! Puts the parts together and watches over them.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use clap::Parser as _;
use cosi_apiserver::ApiServer;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Api, Client, Config};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

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
    /// The log level means nothing.
    #[error("--log-level cannot be understood")]
    LogLevel(#[source] tracing_subscriber::filter::ParseError),
    /// The address for S3 is taken, or not this machine's.
    #[error("cannot listen for S3 on {0} (--s3-listen)")]
    S3(SocketAddr, #[source] io::Error),
    /// The driver would be open to others.
    #[error("--s3-listen {0} is no loopback address: others could reach the S3 server")]
    Open(SocketAddr),
    /// The API server does not start.
    #[error("the API server does not start (--listen)")]
    ApiServer(#[from] cosi_apiserver::ServeError),
    /// The definitions of COSI's kinds that are built in are broken.
    #[error("the definitions of COSI's kinds cannot be used")]
    Kinds(#[from] cosi_apiserver::schema::CatalogueError),
    /// The own kubeconfig cannot be used.
    #[error("cannot use the kubeconfig that was just written")]
    Kubeconfig(#[from] KubeconfigError),
    /// No client.
    #[error("cannot make a client for the API server")]
    Client(#[from] kube::Error),
    /// A flag of a part was not understood.
    #[error("a part of the sandbox refuses its settings")]
    Settings(#[from] clap::Error),
    /// The driver ended.
    #[error("the driver stopped")]
    Driver(#[source] Box<cosi_sample_driver::run::RunError>),
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
    let folder = Folder::open(settings.dir.as_deref());
    let folder = folder.map_err(|e| SandboxError::Folder(settings.dir.clone().unwrap_or_default(), e))?;
    log_to(&folder, &settings.log_level)?;
    let s3 = loopback(settings.s3_listen)?;
    let api_server = api_server()?;
    let stop = CancellationToken::new();
    // Ends with this function, however it ends.
    let _stop = stop.clone().drop_guard();
    tokio::spawn(cosi_apiserver::controllers::run(api_server.clone(), stop));
    let server = cosi_apiserver::serve(api_server, settings.listen).await?;
    let written = std::fs::write(folder.kubeconfig(), server.kubeconfig());
    written.map_err(|e| SandboxError::Folder(folder.kubeconfig(), e))?;
    println!("An API server in memory listens at {}; starting driver and sidecar.", server.url());
    let client = client(&folder).await?;
    let result = parts(settings, &folder, s3, client).await;
    println!("\nStopped. Everything that was in the API server is gone.");
    result
}

/// An API server of which no second one makes the same UIDs.
fn api_server() -> Result<ApiServer, SandboxError> {
    let settings = cosi_apiserver::Settings { seed: rand::random(), ..cosi_apiserver::Settings::default() };
    Ok(ApiServer::new(settings)?)
}

async fn parts(
    settings: &Settings,
    folder: &Folder,
    s3: SocketAddr,
    client: Client,
) -> Result<(), SandboxError> {
    let stop = CancellationToken::new();
    let driver = driver_settings(folder, s3)?;
    let mut driver = Box::pin(cosi_sample_driver::run::run(&driver, stop.cancelled()));
    // It ends on the signals itself.
    let mut sidecar = Box::pin(cosi_sidecar::run(sidecar_settings(folder)?));
    let controller = async {
        if settings.no_controller {
            std::future::pending::<()>().await;
        }
        controller::run(client.clone()).await;
    };
    let told = async {
        leading(&client).await;
        println!("{}", Guide { folder, s3, has_controller: !settings.no_controller });
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        () = told => Ok(()),
        ended = &mut driver => return ended.map_err(|e| SandboxError::Driver(Box::new(e))),
        ended = &mut sidecar => ended.map_err(|e| SandboxError::Sidecar(Box::new(e))),
        () = controller => Ok(()),
    };
    // The driver last: a call that runs may end.
    stop.cancel();
    driver.await.map_err(|e| SandboxError::Driver(Box::new(e)))?;
    ended
}

/// Waits until the sidecar leads. What it finds when it begins, it treats as what a predecessor may have begun (R3), and waits
/// until that must have ended: a newcomer's first objects need not go through that.
async fn leading(client: &Client) {
    let leases = Api::<Lease>::default_namespaced(client.clone());
    let held = async || {
        let lease = leases.list(&ListParams::default()).await.map(|all| all.items.into_iter().next());
        lease.ok().flatten().and_then(|lease| lease.spec?.holder_identity).is_some()
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
    ])
}

async fn client(folder: &Folder) -> Result<Client, SandboxError> {
    let kubeconfig = Kubeconfig::read_from(folder.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// The address with its port. Users' Secrets hold it, so it is settled before the driver starts.
fn loopback(address: SocketAddr) -> Result<SocketAddr, SandboxError> {
    if !address.ip().is_loopback() {
        return Err(SandboxError::Open(address));
    }
    let listener = TcpListener::bind(address).and_then(|listener| listener.local_addr());
    listener.map_err(|e| SandboxError::S3(address, e))
}

fn log_to(folder: &Folder, level: &str) -> Result<(), SandboxError> {
    let filter = level.parse::<EnvFilter>().map_err(SandboxError::LogLevel)?;
    let file: File = folder.create_log().map_err(|e| SandboxError::Folder(folder.log(), e))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Mutex::new(file)).init();
    Ok(())
}
