//! `cargo xtask tidy`: the house rules that neither the compiler nor clippy knows.
//!
//! Each rule is a function from one file to what is wrong with it, so that its test needs no disk. Functions of more
//! than 60 lines are clippy's to find (`clippy.toml`).

mod file;
mod links;
mod packages;
mod places;
mod settings;
mod size;
mod sleeps;
mod words;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::root;
use file::{File, Finding};

/// What each file is checked for.
const RULES: [fn(&File) -> Vec<Finding>; 7] = [
    size::too_long,
    words::unfinished,
    sleeps::in_tests,
    places::named,
    packages::incomplete,
    settings::reserved_prefix,
    links::broken,
];

/// Checks all files that are, or may become, part of the repository.
///
/// # Errors
/// If a rule is broken; each place is printed before.
pub fn tidy() -> Result<()> {
    let root = root();
    let files = files(&root)?;
    let mut findings: Vec<Finding> = files.iter().flat_map(check).collect();
    findings.extend(links::to_nowhere(&files, &root));
    for finding in &findings {
        eprintln!("{finding}");
    }
    let long = files.iter().filter(|file| size::is_longish(file)).count();
    println!("{} files checked; {long} have more than {} lines without tests", files.len(), size::LONGISH);
    ensure!(findings.is_empty(), "house rules are broken in {} places", findings.len());
    Ok(())
}

fn check(file: &File) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| rule(file)).collect()
}

/// Every text file that git knows or would add.
fn files(root: &Path) -> Result<Vec<File>> {
    let list = Command::new("git")
        .current_dir(root)
        // A CI's checkout may belong to another user, which git dislikes.
        .args(["-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .output()
        .context("run git ls-files")?;
    ensure!(list.status.success(), "git ls-files: {}", String::from_utf8_lossy(&list.stderr).trim());
    let names = String::from_utf8(list.stdout).context("a file name that is not UTF-8")?;
    // A file that is deleted and not yet committed is still listed, and a binary one is no text.
    let read = |name: &str| Some(File::new(name, &std::fs::read_to_string(root.join(name)).ok()?));
    Ok(names.split_terminator('\0').filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_itself_is_read() {
        let files = files(&root()).unwrap();
        assert!(files.iter().any(|file| file.path() == "xtask/src/tidy/mod.rs"));
        assert!(!files.iter().any(|file| file.path().starts_with("target/")));
    }

    #[test]
    fn every_rule_is_asked() {
        let bad = File::new("a/Cargo.toml", "[package]\nname = \"a\"\n");
        assert!(!check(&bad).is_empty());
    }
}
