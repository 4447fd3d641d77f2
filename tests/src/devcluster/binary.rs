//! The server's program: built by Go from `tests/devcluster`, into the workspace's target folder.

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The version of `k8s.io/kubernetes` in go.mod; kubectl wants the server to tell it.
const KUBERNETES: (&str, &str, &str) = ("1", "36", "3");

/// Why the program cannot be built.
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
pub(super) fn go_is_here() -> bool {
    let mut go = Command::new("go");
    let silent = go.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// Builds the program and returns its path. Go knows whether there is anything to do: nothing takes seconds, and
/// everything takes minutes.
pub(super) fn build() -> Result<PathBuf, BuildError> {
    let folder = target().join("devcluster");
    let wrong = |source| BuildError::Folder { path: folder.clone(), source };
    fs::create_dir_all(&folder).map_err(wrong)?;
    // Test binaries may come here at once, and none must start a program that is half written.
    let turn = File::create(folder.join("lock")).map_err(wrong)?;
    turn.lock().map_err(wrong)?;
    let program = folder.join("devcluster");
    if !program.exists() {
        eprintln!("building a kube-apiserver for tests; the first time this takes some minutes");
    }
    let status = go_build(&program).status().map_err(BuildError::Go)?;
    if status.success() { Ok(program) } else { Err(BuildError::Failed(status)) }
}

fn go_build(program: &Path) -> Command {
    let (major, minor, patch) = KUBERNETES;
    let version = "k8s.io/component-base/version";
    let mut go = Command::new("go");
    go.current_dir(workspace().join("tests/devcluster"))
        // No other build flags: `go vet` then finds all packages compiled. With the commit stamped into it, the
        // program would be linked anew after each.
        .args(["build", "-buildvcs=false", "-ldflags"])
        .arg(format!(
            "-s -w -X {version}.gitVersion=v{major}.{minor}.{patch} -X {version}.gitMajor={major} -X {version}.gitMinor={minor}"
        ))
        .arg("-o")
        .arg(program)
        .arg(".")
        .stdin(Stdio::null());
    go
}

/// The root of the workspace.
pub(super) fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_owned()
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), |dir| workspace().join(dir))
}

#[cfg(test)]
mod tests {
    use super::{KUBERNETES, workspace};

    #[test]
    fn the_version_told_is_the_version_built() {
        let (major, minor, patch) = KUBERNETES;
        let go_mod = std::fs::read_to_string(workspace().join("tests/devcluster/go.mod")).unwrap();
        assert!(go_mod.contains(&format!("k8s.io/kubernetes v{major}.{minor}.{patch}\n")));
    }
}
