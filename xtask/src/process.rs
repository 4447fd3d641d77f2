//! Child processes of the demo and the benchmark: they log to files and never stay behind.

use std::fs::File;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a process may take to end after it was asked to.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// A running program; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
}

impl Process {
    /// Starts `command`, its output appended to `log`.
    ///
    /// # Errors
    /// If the program or the log cannot be opened.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Self> {
        let name = command.as_std().get_program().to_string_lossy();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        let open = || File::options().create(true).append(true).open(log);
        let log = open().with_context(|| format!("open {}", log.display()))?;
        let errors = log.try_clone().context("share a log")?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors).kill_on_drop(true);
        let child = command.spawn().with_context(|| format!("start {name}"))?;
        Ok(Self { name, child })
    }

    /// The process id, as long as the process runs.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// How the process ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills the process as a crash or the kernel would: it gets no chance to do anything more.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) async fn kill(mut self) -> Result<()> {
        self.child.kill().await.with_context(|| format!("kill {}", self.name))
    }

    /// Asks the process to end, as Kubernetes does, and returns how it did.
    ///
    /// # Errors
    /// If it does not end in time; it is killed then.
    pub(crate) async fn stop(mut self) -> Result<ExitStatus> {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // The process may have ended by itself in between.
            let _ = kill_process(pid, Signal::TERM);
        }
        let ended = timeout(ENDS_WITHIN, self.child.wait()).await;
        ended
            .with_context(|| format!("{} did not end in {ENDS_WITHIN:?}", self.name))?
            .context("wait for a process")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(dir: &Path) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", "echo here; exec sleep 600"]);
        Process::start(command, &dir.join("log")).unwrap()
    }

    #[tokio::test]
    async fn a_process_ends_when_it_is_told_to() {
        let dir = tempfile::tempdir().unwrap();
        let mut process = sleeper(dir.path());
        assert!(process.id().is_some() && process.ended().is_none());
        assert!(!process.stop().await.unwrap().success());
    }

    #[tokio::test]
    async fn output_goes_to_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2"]);
        let mut process = Process::start(command, &dir.path().join("log")).unwrap();
        assert!(process.child.wait().await.unwrap().success());
        assert_eq!(std::fs::read_to_string(dir.path().join("log")).unwrap(), "out\nerr\n");
    }

    #[tokio::test]
    async fn a_dropped_process_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let process = sleeper(dir.path());
        let pid = Pid::from_raw(process.id().unwrap().try_into().unwrap()).unwrap();
        drop(process);
        // Tokio reaps it in the background.
        let gone = async {
            while rustix::process::test_kill_process(pid).is_ok() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(10), gone).await.unwrap();
    }
}
