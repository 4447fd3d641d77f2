//! The sidecar as users run it: a process of its own, with its log in a file.

use std::{
    env,
    ffi::OsString,
    fs::{self, OpenOptions},
    io,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// How long the process may take to do what it is waited for.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(10);

/// Why a sidecar cannot be run, or did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// It cannot be found or started, or its log not be written.
    #[error("running {program}; build it by `cargo build -p cosi-sidecar`")]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not running, and should.
    #[error("the sidecar is not running; its log:\n{log}")]
    NotRunning {
        /// All that it logged.
        log: String,
    },
    /// It did not do in time what was waited for.
    #[error("waited {PATIENCE:?} in vain for the sidecar: {what}; its log:\n{log}")]
    Late {
        /// What was waited for.
        what: String,
        /// All that it logged.
        log: String,
    },
}

/// A sidecar process that can be started, killed and started again; all its lives write to one log. Dropping it kills
/// the process.
#[derive(Debug)]
pub struct Sidecar {
    program: PathBuf,
    args: Vec<OsString>,
    folder: TempDir,
    process: Option<Child>,
}

impl Sidecar {
    /// A sidecar that is not started yet, with this command line. Its environment is empty: no variable of the test's
    /// own run may configure it.
    ///
    /// # Errors
    /// [`SidecarError::Run`] if there is no folder for its log.
    pub fn new(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, SidecarError> {
        Self::of("cosi-sidecar", args)
    }

    /// Another program of the workspace, run in the same way: the driver beside the sidecar, say.
    ///
    /// # Errors
    /// As [`Sidecar::new`].
    pub fn of(
        program: &str,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, SidecarError> {
        let program = beside_us(program);
        let folder = tempfile::Builder::new().prefix("cosi-sidecar-").tempdir();
        let folder = folder.map_err(|source| SidecarError::Run { program: program.clone(), source })?;
        let args = args.into_iter().map(Into::into).collect();
        Ok(Self { program, args, folder, process: None })
    }

    /// Another process with the same command line, and a log of its own; it is not started yet.
    ///
    /// # Errors
    /// As [`Sidecar::new`].
    pub fn twin(&self) -> Result<Self, SidecarError> {
        Self::new(&self.args)
    }

    /// Adds to the command line of the lives to come. The sidecar takes each flag once.
    pub fn add_args(&mut self, args: impl IntoIterator<Item = impl Into<OsString>>) {
        self.args.extend(args.into_iter().map(Into::into));
    }

    /// Gives a flag another value in the lives to come.
    pub fn replace_arg(&mut self, flag: &str, value: impl Into<OsString>) {
        let place = self.args.iter().position(|arg| arg == flag).map(|at| at + 1);
        match place.and_then(|at| self.args.get_mut(at)) {
            Some(old) => *old = value.into(),
            None => self.args.extend([flag.into(), value.into()]),
        }
    }

    /// Starts the process; one that still runs is killed first.
    ///
    /// # Errors
    /// [`SidecarError::Run`]
    pub fn start(&mut self) -> Result<(), SidecarError> {
        self.kill();
        let spawned = OpenOptions::new().create(true).append(true).open(self.log_path()).and_then(|log| {
            let mut command = Command::new(&self.program);
            command.args(&self.args).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
            command.spawn()
        });
        let wrong = |source| SidecarError::Run { program: self.program.clone(), source };
        self.process = Some(spawned.map_err(wrong)?);
        Ok(())
    }

    /// SIGKILL, and waits for the end. Nothing happens if the process does not run.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// SIGTERM.
    ///
    /// # Errors
    /// [`SidecarError::NotRunning`]
    pub fn terminate(&self) -> Result<(), SidecarError> {
        self.signal(Signal::TERM)
    }

    /// SIGSTOP: the process stands still, as on a machine that is suspended or overloaded.
    ///
    /// # Errors
    /// [`SidecarError::NotRunning`]
    pub fn pause(&self) -> Result<(), SidecarError> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// [`SidecarError::NotRunning`]
    pub fn resume(&self) -> Result<(), SidecarError> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<(), SidecarError> {
        let signalled = self.pid().and_then(Pid::from_raw).map(|pid| kill_process(pid, signal));
        match signalled {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(SidecarError::NotRunning { log: self.log() }),
        }
    }

    /// Waits for the process to end by itself.
    ///
    /// # Errors
    /// [`SidecarError::NotRunning`] if it was not started, [`SidecarError::Late`] if it goes on.
    pub async fn wait_exit(&mut self) -> Result<ExitStatus, SidecarError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(process) = &mut self.process else {
                return Err(SidecarError::NotRunning { log: self.log() });
            };
            if let Ok(Some(status)) = process.try_wait() {
                self.process = None;
                return Ok(status);
            }
            if Instant::now() > deadline {
                return Err(SidecarError::Late { what: "its end".to_owned(), log: self.log() });
            }
            sleep(EVERY).await;
        }
    }

    /// Waits until the log has `n` lines with `text` in them, all lives counted.
    ///
    /// # Errors
    /// [`SidecarError::Late`]
    pub async fn wait_log(&self, text: &str, n: usize) -> Result<(), SidecarError> {
        let deadline = Instant::now() + PATIENCE;
        while self.lines_with(text).len() < n {
            if Instant::now() > deadline {
                return Err(SidecarError::Late {
                    what: format!("{n} log lines with {text:?}"),
                    log: self.log(),
                });
            }
            sleep(EVERY).await;
        }
        Ok(())
    }

    /// Whether the process runs.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)))
    }

    /// The process id of a running process, or of one whose end was not waited for yet.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        self.process.as_ref().and_then(|process| process.id().try_into().ok())
    }

    /// All that was logged, by all lives.
    #[must_use]
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log_path()).unwrap_or_default()).into_owned()
    }

    /// The log lines with `text` in them.
    #[must_use]
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        self.log().lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("sidecar.log")
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A program of this workspace: cargo puts programs one folder above test binaries.
#[must_use]
pub fn beside_us(program: &str) -> PathBuf {
    let us = env::current_exe().unwrap_or_default();
    let folder = us.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).unwrap_or(&us);
    folder.join(program)
}
