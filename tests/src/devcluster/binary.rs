//! The server's program: built by Go from `tests/devcluster`.

use std::path::PathBuf;

use crate::go::{self, BuildError};

/// The version of `k8s.io/kubernetes` in go.mod; kubectl wants the server to tell it.
const KUBERNETES: (&str, &str, &str) = ("1", "36", "3");

/// Builds the program and returns its path.
pub(super) fn build() -> Result<PathBuf, BuildError> {
    let (major, minor, patch) = KUBERNETES;
    let version = "k8s.io/component-base/version";
    let ldflags = format!(
        "-s -w -X {version}.gitVersion=v{major}.{minor}.{patch} -X {version}.gitMajor={major} -X {version}.gitMinor={minor}"
    );
    go::build("devcluster", ".", &ldflags)
}

#[cfg(test)]
mod tests {
    use super::KUBERNETES;
    use crate::go::workspace;

    #[test]
    fn the_version_told_is_the_version_built() {
        let (major, minor, patch) = KUBERNETES;
        let go_mod = std::fs::read_to_string(workspace().join("tests/devcluster/go.mod")).unwrap();
        assert!(go_mod.contains(&format!("k8s.io/kubernetes v{major}.{minor}.{patch}\n")));
    }
}
