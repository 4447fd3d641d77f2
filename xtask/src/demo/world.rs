//! Everything that runs: API server, driver, sidecar.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use cosi_tests::object_store::ObjectStore;
use cosi_tests::sidecar::beside_us;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use super::apiserver::ApiServer;
use super::cluster::{Access, Cluster};
use super::narrator::{Narrator, tell};
use super::wire;
use crate::process::Process;

/// The name of the driver.
pub(super) const DRIVER: &str = "sample.objectstorage.local";
/// How long anything may take that should take moments; machines may be slow.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);

/// What the driver's S3 server is signed for.
const REGION: &str = "us-east-1";

/// How long the driver waits before it answers, after it did the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    pub(super) create: &'static str,
    pub(super) grant: &'static str,
}

impl Default for Delays {
    fn default() -> Self {
        Self { create: "0s", grant: "0s" }
    }
}

/// All processes, and the folder they work in.
pub(super) struct World {
    pub(super) narrator: Narrator,
    folder: TempDir,
    s3: String,
    /// Whether the API server is to be a real one.
    real: bool,
    apiserver: Option<ApiServer>,
    cluster: Option<Cluster>,
    driver: Option<Process>,
    sidecar: Option<Process>,
}

impl World {
    /// An empty world.
    ///
    /// # Errors
    /// If there is no place for it.
    pub(super) fn new(real: bool) -> Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("cosi-demo-").tempdir().context("make a temporary folder")?;
        Ok(Self {
            narrator: Narrator::default(),
            folder,
            s3: free_port()?,
            real,
            apiserver: None,
            cluster: None,
            driver: None,
            sidecar: None,
        })
    }

    pub(super) async fn start_apiserver(&mut self) -> Result<Cluster> {
        if self.real {
            tell(
                "starting a Kubernetes API server of our own (built from its source the first time: some minutes)",
            );
            self.apiserver = Some(ApiServer::real().await?);
        } else {
            tell("starting an API server that keeps everything in memory");
            self.apiserver = Some(ApiServer::embedded(self.path("kubeconfig")).await?);
        }
        let client = self.apiserver.as_ref().context("no API server")?.client()?;
        let cluster = Cluster::new(&client);
        self.cluster = Some(cluster.clone());
        Ok(cluster)
    }

    pub(super) fn cluster(&self) -> Result<Cluster> {
        self.cluster.clone().context("no API server")
    }

    /// Starts the driver, and waits for its S3 server.
    pub(super) async fn start_driver(&mut self, delays: Delays) -> Result<()> {
        std::fs::create_dir_all(self.path("socket")).context("make the socket's folder")?;
        let mut command = Command::new(beside_us("cosi-sample-driver"));
        command
            .args(["--driver-name", DRIVER, "--create-delay", delays.create, "--grant-delay", delays.grant])
            .args(["--s3-listen", &self.s3, "--endpoint", &self.socket()])
            .arg("--data-dir")
            .arg(self.path("data"));
        self.driver = Some(Process::start(command, &self.path("driver.log"))?);
        self.await_backend().await
    }

    /// The S3 server, with the operator's key pair.
    pub(super) fn backend(&self) -> Result<ObjectStore> {
        ObjectStore::open(&self.s3_url(), &self.credentials()).context("read the operator's key pair")
    }

    async fn await_backend(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let ended = self.driver.as_mut().and_then(Process::ended);
            ensure!(ended.is_none(), "the driver ended");
            // The key pair is written at the first start.
            if let Ok(backend) = self.backend()
                && backend.buckets().await.is_ok()
            {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "the driver's S3 server does not answer");
            sleep(POLL).await;
        }
    }

    pub(super) async fn stop_driver(&mut self) -> Result<()> {
        let Some(driver) = self.driver.take() else { return Ok(()) };
        let status = driver.stop().await?;
        ensure!(status.success(), "the driver ended with {status}");
        Ok(())
    }

    pub(super) fn start_sidecar(&mut self) -> Result<()> {
        let mut command = Command::new(beside_us("cosi-sidecar"));
        command
            .args(["--timeout", "4s", "--late-landing-grace", "1s", "--retry-interval-start", "200ms"])
            // A drill that kills the sidecar waits for its lease.
            .args(["--leader-election-lease-duration", "2s", "--leader-election-renew-deadline", "1500ms"])
            .args(["--leader-election-retry-period", "500ms"])
            .args(["--retry-interval-max", "1s", "--driver-endpoint"])
            .arg(self.socket())
            .arg("--kubeconfig")
            .arg(self.kubeconfig()?);
        self.sidecar = Some(Process::start(command, &self.path("sidecar.log"))?);
        Ok(())
    }

    /// Kills the sidecar as a crash would.
    pub(super) async fn kill_sidecar(&mut self) -> Result<()> {
        self.sidecar.take().context("no sidecar to kill")?.kill().await
    }

    /// Waits until `look` sees something. A sidecar that ends meanwhile is an error.
    pub(super) async fn await_<T>(
        &mut self,
        what: &str,
        look: impl AsyncFn() -> Result<Option<T>>,
    ) -> Result<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(seen) = look().await? {
                return Ok(seen);
            }
            if let Some(status) = self.sidecar.as_mut().and_then(Process::ended) {
                bail!("the sidecar ended ({status})");
            }
            ensure!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
            sleep(POLL).await;
        }
    }

    /// Waits until the driver's log names something.
    pub(super) async fn await_driver_log(&mut self, what: &str, text: &str) -> Result<()> {
        let log = self.path("driver.log");
        let found = async || {
            let written = tokio::fs::read_to_string(&log).await.context("read the driver's log")?;
            Ok(written.contains(text).then_some(()))
        };
        self.await_(what, found).await
    }

    /// Asks the driver for the account that it made for `access`; a driver answers a repeated call with the same one, as soon
    /// as the first has ended.
    pub(super) async fn grant_again(&mut self, access: &Access, bucket: &str) -> Result<ObjectStore> {
        let socket = self.socket();
        let granted = self
            .await_("the driver's first call ends", async || wire::grant(&socket, access, bucket).await)
            .await?;
        let keys = granted.credentials.and_then(|c| c.s3).context("the driver gave no key pair")?;
        Ok(ObjectStore::with_key(&self.s3_url(), REGION, &keys.access_key_id, &keys.access_secret_key))
    }

    /// Ends everything. The folder goes, too, unless it shall be `left` for a look at the logs.
    pub(super) async fn end(mut self, left: bool) -> Option<PathBuf> {
        for process in [self.sidecar.take(), self.driver.take()].into_iter().flatten() {
            if let Err(error) = process.stop().await {
                eprintln!("{error:#}");
            }
        }
        drop(self.apiserver.take());
        left.then(|| self.folder.keep())
    }

    pub(super) fn kubeconfig(&self) -> Result<&Path> {
        Ok(self.apiserver.as_ref().context("no API server")?.kubeconfig())
    }

    pub(super) fn socket(&self) -> String {
        format!("unix://{}", self.path("socket/cosi.sock").display())
    }

    pub(super) fn s3_url(&self) -> String {
        format!("http://{}", self.s3)
    }

    pub(super) fn credentials(&self) -> PathBuf {
        self.path("data/operator-credentials")
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }
}

/// An address that nobody listens on; the driver keeps it over restarts.
fn free_port() -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    Ok(listener.local_addr().context("find a free port")?.to_string())
}
