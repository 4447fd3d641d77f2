//! A server of our own: a child process that cannot outlive this one.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// How long a start may take; it takes about three seconds on two free cores.
const READY_WITHIN: Duration = Duration::from_secs(90);
/// How long an end may take before the process is killed.
pub(super) const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// What a server can be started with; by default nothing special.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Port on 127.0.0.1; 0 means any free one.
    pub port: u16,
    /// More users, in the format of kube-apiserver's `--token-auth-file`.
    pub token_file: Option<PathBuf>,
    /// Flags for kube-apiserver itself, say `--audit-log-path=…`.
    pub server_flags: Vec<String>,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// No folder for its data.
    #[error("making the server's folder")]
    Folder(#[source] io::Error),
    /// The program does not run.
    #[error("running {path}")]
    Spawn {
        /// The program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It ended, or said nothing in time.
    #[error("the server was not ready ({how}); the end of its log:\n{log}")]
    NotReady {
        /// What happened instead.
        how: String,
        /// The last lines that it logged.
        log: String,
    },
}

/// A running server. Dropping it ends the process and removes its data.
///
/// The process holds the read end of a pipe of ours as its stdin and ends when that is closed, which the kernel does
/// even if we are killed; it removes its folder itself, too.
#[derive(Debug)]
pub struct Server {
    process: Child,
    dir: TempDir,
}

impl Server {
    /// Starts `program`, with data in a new temporary folder, and waits until it is ready.
    ///
    /// # Errors
    /// [`ServerError`]
    pub fn start(program: &Path, options: &ServerOptions) -> Result<Self, ServerError> {
        let dir =
            tempfile::Builder::new().prefix("cosi-devcluster-").tempdir().map_err(ServerError::Folder)?;
        let log = File::create(dir.path().join(LOG)).map_err(ServerError::Folder)?;
        let mut process = command(program, dir.path(), options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|source| ServerError::Spawn { path: program.to_owned(), source })?;
        let stdout = process.stdout.take();
        let server = Self { process, dir };
        match stdout.and_then(|stdout| first_line(stdout, READY_WITHIN)) {
            Some(line) if line.starts_with("READY ") => Ok(server),
            other => Err(server.not_ready(other)),
        }
    }

    /// The admin's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.path().join("kubeconfig")
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends the process as its owner's death would, and returns how it ended, or `None` if it had to be killed.
    pub fn stop(&mut self) -> Option<ExitStatus> {
        drop(self.process.stdin.take());
        let ended = wait(&mut self.process, ENDS_WITHIN);
        if ended.is_none() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
        ended
    }

    fn not_ready(mut self, said: Option<String>) -> ServerError {
        let ended = wait(&mut self.process, Duration::from_secs(1));
        let how = match (ended, said) {
            (Some(status), _) => status.to_string(),
            (None, Some(line)) => format!("it said {line:?}"),
            (None, None) => format!("it said nothing within {READY_WITHIN:?}"),
        };
        ServerError::NotReady { how, log: tail(&self.dir.path().join(LOG)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What the server logs, in its folder.
const LOG: &str = "server.log";

fn command(program: &Path, dir: &Path, options: &ServerOptions) -> Command {
    let mut command = Command::new(program);
    command.args(["apiserver", "--ephemeral", "--dir"]).arg(dir).args(["--port", &options.port.to_string()]);
    if let Some(file) = &options.token_file {
        command.arg("--token-file").arg(file);
    }
    command.arg("--").args(&options.server_flags);
    command
}

/// The first line that comes out of `output`, or `None` if it ends or nothing comes in time.
fn first_line(output: impl Read + Send + 'static, within: Duration) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    // Ends with the output, hence with the process at the latest.
    thread::spawn(move || {
        let mut line = String::new();
        if BufReader::new(output).read_line(&mut line).is_ok_and(|length| length > 0) {
            let _ = sender.send(line);
        }
    });
    receiver.recv_timeout(within).ok()
}

pub(super) fn wait(process: &mut Child, within: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + within;
    loop {
        if let Ok(Some(status)) = process.try_wait() {
            return Some(status);
        }
        if Instant::now() > deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The last lines of a log that may be long.
pub(super) fn tail(path: &Path) -> String {
    let log = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = text.lines().rev().take(20).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}
