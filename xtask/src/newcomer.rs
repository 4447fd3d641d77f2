//! `cargo xtask newcomer`: follows the guide for driver authors to the letter, and says how long that takes.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::workspace::{cargo, root, run};

const GUIDE: &str = "docs/driver-authors.md";
/// What comes before the guide's own commands. A newcomer may do without grpcurl, and has no other driver at that place.
const BEFORE: &str = r#"set -euo pipefail
HERE=$PWD
trap 'kill $(jobs -p)' EXIT
command -v grpcurl > /dev/null || grpcurl() { echo "grpcurl is not installed: skipped"; }
"#;
/// A person takes longer to type the next command than a driver to start.
const AFTER_START: &str = r#"for _ in $(seq 100); do ls "$HERE"/*/*.sock > /dev/null 2>&1 && break; sleep 0.1; done
"#;

/// Makes the driver of the guide in a new folder, as the guide says, and puts it to the conformance suite.
///
/// # Errors
/// If a command of the guide fails, the last one, which is the suite, included.
pub fn newcomer() -> Result<()> {
    // Of the whole workspace, as everything else here: alone, cargo would compile many crates once more with fewer features.
    run(&mut cargo(["build", "--workspace", "--bin", "cosi-conformance"]))?;
    let guide = fs::read_to_string(root().join(GUIDE)).with_context(|| format!("read {GUIDE}"))?;
    let folder = TempDir::new().context("make a folder for the newcomer")?;
    symlink(root(), folder.path().join("cosi-rs"))
        .context("put the repository beside the newcomer's project")?;
    let started = Instant::now();
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(script(&guide)?).current_dir(folder.path()).env("PATH", path()?);
    // Set for this repository's own build; the newcomer's project is another one.
    let status = bash.env_remove("CARGO_TARGET_DIR").status().context("start bash")?;
    ensure!(status.success(), "a newcomer who follows {GUIDE} fails: {status}");
    println!("\nfrom nothing to a driver that passes: {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Ours first: what is built in this repository counts as installed.
fn path() -> Result<OsString> {
    let us = env::current_exe().context("find the programs of this repository")?;
    let ours = us.parent().map(ToOwned::to_owned);
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(ours.into_iter().chain(env::split_paths(&others))).context("make a PATH")
}

/// The guide's commands, in order, and its code in the place where it belongs.
fn script(guide: &str) -> Result<String> {
    let mut script = BEFORE.to_owned();
    let mut commands = 0;
    for block in guide.split("\n```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap_or_default();
        match language {
            "rust,no_run" => {
                script += &["cat > src/main.rs <<'END-OF-MAIN'\n", text, "\nEND-OF-MAIN\n"].concat();
            }
            "console" => {
                for command in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                    commands += 1;
                    script.push_str(&command.replace("/tmp/", "$HERE/"));
                    script.push('\n');
                    if command.ends_with('&') {
                        script.push_str(AFTER_START);
                    }
                }
            }
            _ => {}
        }
    }
    ensure!(commands > 0 && script.contains("src/main.rs"), "{GUIDE} has no commands or no code");
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_what_the_guide_says_in_its_order() {
        let guide = "a\n```console\n$ one\nanswer\n$ two /tmp/x &\n```\nb\n```rust,no_run\nfn main() {}\n```\nc\n```text\n$ no\n```\n";
        let script = script(guide).unwrap();
        let own = script.strip_prefix(BEFORE).unwrap();
        let expected = format!(
            "one\ntwo $HERE/x &\n{AFTER_START}cat > src/main.rs <<'END-OF-MAIN'\nfn main() {{}}\nEND-OF-MAIN\n"
        );
        assert_eq!(own, expected);
    }

    #[test]
    fn a_guide_without_commands_or_code_is_no_guide() {
        assert!(script("a\n```console\n$ one\n```\n").is_err());
        assert!(script("a\n```rust,no_run\nfn main() {}\n```\n").is_err());
    }

    #[test]
    fn the_guide_itself_ends_with_the_suite() {
        let guide = fs::read_to_string(root().join(GUIDE)).unwrap();
        let script = script(&guide).unwrap();
        assert!(script.starts_with(BEFORE) && script.contains("cargo new "));
        assert!(
            script.trim_end().lines().last().unwrap().starts_with("cosi-conformance --endpoint "),
            "{script}"
        );
    }
}
