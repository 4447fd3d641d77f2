//! Drivers in other languages, and tools that are not ours: made of `tests/foreign` into the workspace's target folder, the
//! drivers by the commands that `docs/other-languages.md` gives to people.

pub mod console;

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::OnceLock,
};

use crate::go::{self, target, workspace};
use crate::skip;

/// What the tools are made by, in the same folder.
const TOOLS: [&str; 2] = [
    "python/bin/pip install --quiet --requirement cosi-rs/tests/foreign/tools.txt",
    "go -C go build -o bin/ github.com/fullstorydev/grpcurl/cmd/grpcurl",
];

/// Whose change means to make everything again.
const SOURCES: [&str; 8] = [
    "docs/other-languages.md",
    "proto/sigs/k8s/io/cosi/v1alpha2/cosi.proto",
    "tests/foreign/go/go.mod",
    "tests/foreign/go/go.sum",
    "tests/foreign/go/main.go",
    "tests/foreign/python/driver.py",
    "tests/foreign/python/requirements.txt",
    "tests/foreign/tools.txt",
];

/// Why they cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// A file or folder cannot be read or made.
    #[error("{path}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The shell does not run.
    #[error("running sh")]
    Shell(#[source] io::Error),
    /// A command failed; its own messages are on stderr.
    #[error("`{command}`: {status}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: ExitStatus,
    },
}

/// The drivers and tools, ready to run.
#[derive(Debug)]
pub struct Foreign {
    folder: PathBuf,
}

/// The drivers and tools; `None` after saying that `test` is skipped, as there is no Python or no Go here.
///
/// # Panics
/// If there are both, and something cannot be made of them.
#[must_use]
#[allow(clippy::panic, reason = "a panic is how a test fails")]
pub fn or_skip(test: &str) -> Option<&'static Foreign> {
    static FOREIGN: OnceLock<Option<Foreign>> = OnceLock::new();
    let made = FOREIGN.get_or_init(|| {
        let here = go::is_here() && answers("python3 -c 'import venv, ensurepip'");
        here.then(|| Foreign::make().unwrap_or_else(|error| panic!("drivers in other languages: {error:?}")))
    });
    if made.is_none() {
        skip::report(test, "needs Go, and Python 3 with venv, to make drivers in other languages with");
    }
    made.as_ref()
}

impl Foreign {
    /// Makes all of it, if anything changed since it was made last.
    fn make() -> Result<Self, ForeignError> {
        let folder = target().join("foreign");
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        // Test binaries may come here at once.
        let turn = folder.join("lock");
        File::create(&turn).and_then(|lock| lock.lock().map(|()| lock)).map_err(at(&turn)).and_then(
            |_turn| {
                let (stamp, wanted) = (folder.join("made-of"), sources()?);
                if fs::read(&stamp).is_ok_and(|made_of| made_of == wanted) {
                    return Ok(());
                }
                // Until all is made anew, nothing is there.
                let _ = fs::remove_file(&stamp);
                let link = folder.join("cosi-rs");
                // It may be there already, and lead to another checkout.
                let _ = fs::remove_file(&link);
                std::os::unix::fs::symlink(workspace(), &link).map_err(at(&link))?;
                run_all(&folder)?;
                fs::write(&stamp, wanted).map_err(at(&stamp))
            },
        )?;
        Ok(Self { folder })
    }

    /// The command line of the driver in Python, for `env`.
    #[must_use]
    pub fn python(&self, endpoint: &str, file: &Path) -> Vec<OsString> {
        let (python, driver) = (self.folder.join("python/bin/python"), self.folder.join("python/driver.py"));
        vec![format!("COSI_ENDPOINT={endpoint}").into(), python.into(), driver.into(), file.into()]
    }

    /// The command line of the driver in Go, for `env`.
    #[must_use]
    pub fn go(&self, endpoint: &str) -> Vec<OsString> {
        vec![format!("COSI_ENDPOINT={endpoint}").into(), self.folder.join("go/bin/driver").into()]
    }

    /// The folder in which `grpcurl` is.
    #[must_use]
    pub fn go_programs(&self) -> PathBuf {
        self.folder.join("go/bin")
    }

    /// The linter of protocol files.
    #[must_use]
    pub fn buf(&self) -> PathBuf {
        self.folder.join("python/bin/buf")
    }
}

fn run_all(folder: &Path) -> Result<(), ForeignError> {
    eprintln!("making drivers in other languages; the first time this takes a minute or two");
    let path = workspace().join("docs/other-languages.md");
    let guide = fs::read_to_string(&path).map_err(at(&path))?;
    let of_guide = ["## Python", "## Go"].into_iter().flat_map(|heading| console::commands(&guide, heading));
    for command in of_guide.chain(TOOLS.map(str::to_owned)) {
        let mut shell = Command::new("sh");
        shell.current_dir(folder).args(["-c", &command]).env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        let status = shell.stdin(Stdio::null()).status().map_err(ForeignError::Shell)?;
        if !status.success() {
            return Err(ForeignError::Failed { command, status });
        }
    }
    Ok(())
}

fn sources() -> Result<Vec<u8>, ForeignError> {
    let mut all = workspace().display().to_string().into_bytes();
    for source in SOURCES {
        let path = workspace().join(source);
        all.extend(fs::read(&path).map_err(at(&path))?);
    }
    Ok(all)
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ForeignError + use<> {
    let path = path.to_owned();
    |source| ForeignError::File { path, source }
}

fn answers(command: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}
