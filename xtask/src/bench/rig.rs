//! API server, driver and sidecar under measurement.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cosi_sim::Rule;
use cosi_sim::driver::{Abilities, Call, On, Rpc, ScriptedDriver, Step};
use cosi_tests::devcluster::{DevCluster, ServerOptions};
use cosi_tests::sidecar::beside_us;
use kube::Client;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use super::accesses::Accesses;
use super::load::Load;
use super::meter;
use crate::machine;
use crate::process::Process;

pub(super) const DRIVER: &str = "scripted.bench";
const PATIENCE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(250);
/// A process that used at most `QUIET_TICKS` of processor time during `QUIET_POLLS` polls has nothing to do.
const QUIET_POLLS: usize = 8;
const QUIET_TICKS: u64 = 2;

/// All that runs.
pub(super) struct Rig {
    cluster: DevCluster,
    client: Client,
    driver: ScriptedDriver,
    slowness: Option<Rule<Call>>,
    sidecar: Option<Process>,
    folder: TempDir,
}

impl Rig {
    /// Starts API server and driver; to be called inside a runtime.
    ///
    /// # Errors
    /// If one does not start.
    pub(super) fn new() -> Result<Self> {
        // A cluster of its own: another one has other numbers, and other things to do.
        let cluster = DevCluster::start(&ServerOptions::default())?;
        let client = cluster.client().context("connect to the API server")?;
        let abilities = Abilities { name: DRIVER.to_owned(), ..Abilities::default() };
        let driver = ScriptedDriver::start(abilities).context("start the driver")?;
        let folder = tempfile::tempdir().context("make a temporary folder")?;
        Ok(Self { cluster, client, driver, slowness: None, sidecar: None, folder })
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// From now on a Create takes this long.
    pub(super) fn slow_down(&mut self, by: Duration) {
        self.slowness = Some(self.driver.rule(On::create(), Step::delay(by)));
    }

    pub(super) fn speed_up(&mut self) {
        if let Some(rule) = self.slowness.take() {
            rule.off();
        }
    }

    /// Buckets per second, from the first Ready one to the last, when all are there at the start.
    pub(super) async fn work_off(&mut self, load: &Load, phase: &'static str, count: u32) -> Result<f64> {
        load.create(DRIVER, phase, count).await?;
        let ready = load.watch(phase, count);
        self.launch()?;
        let span = ready.all().await?;
        self.stop().await?;
        Ok(span.rate())
    }

    /// Accesses per second, from the first Ready one to the last, when all are handed over at the start. The sidecar goes on.
    pub(super) async fn work_off_accesses(&mut self, accesses: &Accesses, count: u32) -> Result<f64> {
        let ready = accesses.watch("access", count);
        self.launch()?;
        let span = ready.all().await?;
        self.settle().await?;
        Ok(span.rate())
    }

    /// Starts the sidecar; says how long it takes until it has looked at so many Secrets.
    pub(super) async fn start_and_look(&mut self, secrets: u32) -> Result<f64> {
        let before = meter::secret_reads(&self.client).await?;
        let begin = Instant::now();
        self.launch()?;
        while meter::secret_reads(&self.client).await? < before + f64::from(secrets) {
            ensure!(begin.elapsed() < PATIENCE, "the sidecar does not look at its Secrets");
            sleep(POLL).await;
        }
        let seconds = begin.elapsed().as_secs_f64();
        self.settle().await?;
        Ok(seconds)
    }

    /// Starts the sidecar and waits until it has nothing to do.
    pub(super) async fn start(&mut self) -> Result<()> {
        let met = self.driver.count(&On::get_info());
        self.launch()?;
        self.driver.wait_calls(&On::get_info(), met + 1).await?;
        self.settle().await
    }

    fn launch(&mut self) -> Result<()> {
        let mut command = Command::new(beside_us("cosi-sidecar"));
        // Renewals are not what is measured.
        command.arg("--leader-election=false");
        command.args(["--log-level", "warn", "--driver-endpoint", &self.driver.endpoint(), "--kubeconfig"]);
        command.arg(self.cluster.kubeconfig_path());
        self.sidecar = Some(Process::start(command, &self.folder.path().join("sidecar.log"))?);
        Ok(())
    }

    /// Waits until the sidecar has nothing to do.
    pub(super) async fn settle(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let mut since = machine::ticks(self.pid()?)?;
        let mut quiet = 0;
        while quiet < QUIET_POLLS {
            ensure!(Instant::now() < deadline, "the sidecar does not come to rest in {PATIENCE:?}");
            sleep(POLL).await;
            let now = machine::ticks(self.pid()?)?;
            if now - since > QUIET_TICKS {
                (since, quiet) = (now, 0);
            } else {
                quiet += 1;
            }
        }
        Ok(())
    }

    /// Asks the sidecar to end, and waits until it has.
    pub(super) async fn stop(&mut self) -> Result<()> {
        let status = self.sidecar.take().context("no sidecar to stop")?.stop().await?;
        ensure!(status.success(), "the sidecar ended with {status}");
        Ok(())
    }

    /// Resident memory of the sidecar in MB.
    pub(super) fn rss(&self) -> Result<f64> {
        machine::rss(self.pid()?)
    }

    /// Writes that the API server got so far.
    pub(super) async fn writes(&self) -> Result<f64> {
        meter::writes(&self.client).await
    }

    /// Calls that the driver got so far, the one for its name aside.
    pub(super) fn calls(&self) -> u32 {
        let calls: usize = Rpc::PROVISIONER.into_iter().map(|rpc| self.driver.count(&On::rpc(rpc))).sum();
        u32::try_from(calls).unwrap_or(u32::MAX)
    }

    fn pid(&self) -> Result<u32> {
        self.sidecar.as_ref().and_then(Process::id).context("the sidecar does not run")
    }
}
