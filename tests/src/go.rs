//! Programs in Go that tests need: built of the modules below `tests/`, into the workspace's target folder.

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Why a program cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Its folder below target/ cannot be made or locked.
    #[error("preparing {path}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Go does not run.
    #[error("running go")]
    Go(#[source] io::Error),
    /// Go does not like it; its own messages are on stderr.
    #[error("go build: {0}")]
    Failed(std::process::ExitStatus),
}

/// Whether there is a Go that works.
pub(crate) fn is_here() -> bool {
    let mut go = Command::new("go");
    let silent = go.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Builds `package` of the module in `tests/<module>` and returns the program's path. Go knows whether there is anything to
/// do: nothing takes seconds, and everything takes minutes.
pub(crate) fn build(module: &str, package: &str, ldflags: &str) -> Result<PathBuf, BuildError> {
    let folder = target().join(module);
    let wrong = |source| BuildError::Folder { path: folder.clone(), source };
    fs::create_dir_all(&folder).map_err(wrong)?;
    // Test binaries may come here at once, and none must start a program that is half written.
    let turn = File::create(folder.join("lock")).map_err(wrong)?;
    turn.lock().map_err(wrong)?;
    let program = folder.join(module);
    if !program.exists() {
        eprintln!("building {module} for tests; the first time this takes some minutes");
    }
    let mut go = Command::new("go");
    go.current_dir(workspace().join("tests").join(module))
        // No other build flags: `go vet` then finds all packages compiled. With the commit stamped into it, the
        // program would be linked anew after each.
        .args(["build", "-buildvcs=false", "-ldflags", ldflags, "-o"])
        .arg(&program)
        .arg(package)
        .stdin(Stdio::null());
    let status = go.status().map_err(BuildError::Go)?;
    if status.success() { Ok(program) } else { Err(BuildError::Failed(status)) }
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_owned()
}

/// The workspace's target folder.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), |dir| workspace().join(dir))
}
