//! Running kubectl.

use crate::script::Step;
use crate::transcript::{Entry, Transcript, plain};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

/// How long a command may take.
const DEADLINE: Duration = Duration::from_mins(1);

/// A kubectl with a home and a cache of its own.
pub(crate) struct Kubectl {
    home: TempDir,
    /// Stands for `{p}` in scripts: the name of a namespace, and the beginning of all other names.
    prefix: String,
}

/// Whether kubectl is installed.
pub(crate) fn is_here() -> bool {
    std::process::Command::new("kubectl")
        .args(["version", "--client"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Kubectl {
    /// Talks to the server of this kubeconfig, with names that begin with `test` and are this run's own.
    pub(crate) fn with_config(kubeconfig: &str, test: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config"), kubeconfig).unwrap();
        // Of the same width for both servers: tables are as wide as their names.
        let unique = jiff::Timestamp::now().as_nanosecond() % 100_000_000_000;
        Self { home, prefix: format!("{}-{unique:011}", test.replace('_', "-")) }
    }

    /// Runs all steps, and writes down what was printed.
    pub(crate) async fn run(&self, script: &[Step]) -> Transcript {
        let mut entries = Vec::new();
        let mut started: Vec<(String, Child, Vec<String>)> = Vec::new();
        for step in script {
            match step {
                Step::Run(args) => entries.push(self.once(args, "").await),
                Step::Feed(stdin, args) => entries.push(self.once(args, stdin).await),
                Step::Start(path, args) => {
                    let child = self.spawn_until(args, path).await;
                    started.push((self.shown(args), child, Vec::new()));
                }
                Step::Watch(args, lines) => {
                    let mut child = self.spawn(args);
                    let read = self.lines(&mut child, *lines).await;
                    started.push((self.shown(args), child, read));
                }
                Step::Finish => {
                    let (command, child, _) = started.pop().unwrap();
                    // Its standard error is full of requests.
                    let entry = self.finish(command, child).await;
                    entries.push(Entry { stderr: String::new(), ..entry });
                }
                Step::Stop(lines) => {
                    let (command, mut child, mut read) = started.pop().unwrap();
                    read.extend(self.lines(&mut child, *lines).await);
                    child.kill().await.unwrap();
                    entries.push(Entry {
                        command,
                        code: None,
                        stdout: read.join("\n"),
                        stderr: String::new(),
                    });
                }
            }
        }
        Transcript(entries)
    }

    async fn once(&self, args: &[&str], stdin: &str) -> Entry {
        let mut child = self.spawn(args);
        let mut pipe = child.stdin.take().unwrap();
        // A command that refuses its arguments doesn't read what it is given.
        let _ = pipe.write_all(self.filled(stdin).as_bytes()).await;
        drop(pipe);
        self.finish(self.shown(args), child).await
    }

    async fn finish(&self, command: String, child: Child) -> Entry {
        let output = tokio::time::timeout(DEADLINE, child.wait_with_output());
        let output = output.await.unwrap_or_else(|_| panic!("{command} has not ended")).unwrap();
        let text = |bytes: &[u8]| plain(&String::from_utf8_lossy(bytes), &self.prefix);
        Entry {
            command,
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// The next lines of a command that goes on. What came in one piece with them and isn't asked for is lost.
    async fn lines(&self, child: &mut Child, count: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let stdout = child.stdout.as_mut().unwrap();
        while lines.len() < count {
            let mut line = Vec::new();
            let read = async {
                loop {
                    match stdout.read_u8().await.unwrap() {
                        b'\n' => return,
                        byte => line.push(byte),
                    }
                }
            };
            tokio::time::timeout(DEADLINE, read).await.unwrap_or_else(|_| panic!("no line after {lines:?}"));
            lines.push(plain(&String::from_utf8_lossy(&line), &self.prefix));
        }
        lines
    }

    /// Starts a command, and waits until the server has heard of it: kubectl tells each answered request.
    async fn spawn_until(&self, args: &[&str], path: &str) -> Child {
        let mut child = self.spawn(&[args, &["-v=6"]].concat());
        let stderr = child.stderr.as_mut().unwrap();
        let mut line = Vec::new();
        let read = async {
            loop {
                match stderr.read_u8().await.unwrap() {
                    b'\n' if String::from_utf8_lossy(&line).contains(path) => return,
                    b'\n' => line.clear(),
                    byte => line.push(byte),
                }
            }
        };
        tokio::time::timeout(DEADLINE, read)
            .await
            .unwrap_or_else(|_| panic!("{args:?} never asked for {path}"));
        child
    }

    fn spawn(&self, args: &[&str]) -> Child {
        Command::new("kubectl")
            .args(args.iter().map(|arg| self.filled(arg)))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("KUBECONFIG", self.home.path().join("config"))
            .current_dir(self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    fn filled(&self, text: &str) -> String {
        text.replace("{p}", &self.prefix)
    }

    fn shown(&self, args: &[&str]) -> String {
        plain(&format!("kubectl {}", self.filled(&args.join(" "))), &self.prefix)
    }
}
