//! What the README says about flags is what the programs have.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

/// Environment variable and default of each flag.
type Flags = BTreeMap<String, (String, String)>;

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap()
}

/// The table below the heading `### Flags of PROGRAM`.
fn documented(program: &str) -> Flags {
    let readme = readme();
    let section = readme.split(&format!("### Flags of {program}\n")).nth(1).expect("a section on the flags");
    let lines = section.lines().take_while(|line| !line.starts_with('#'));
    lines.filter(|line| line.starts_with("| `--")).map(row).collect()
}

fn row(line: &str) -> (String, (String, String)) {
    let cell = |n: usize| line.split('|').nth(n).unwrap().trim().trim_matches('`').to_owned();
    assert!(!cell(4).is_empty(), "no meaning: {line}");
    (cell(1), (cell(2), cell(3)))
}

fn defined(command: &Command) -> Flags {
    let flags = command.get_arguments().filter(|flag| !["help", "version"].contains(&flag.get_id().as_str()));
    flags.map(|flag| (format!("--{}", flag.get_long().unwrap()), (variable(flag), default(flag)))).collect()
}

fn variable(flag: &Arg) -> String {
    flag.get_env().unwrap_or_default().to_string_lossy().into_owned()
}

fn default(flag: &Arg) -> String {
    flag.get_default_values().first().map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
}

#[test]
fn the_sidecars_flags_are_those_of_the_readme() {
    assert_eq!(documented("cosi-sidecar"), defined(&cosi_sidecar::settings::Settings::command()));
}

#[test]
fn the_sample_drivers_flags_are_those_of_the_readme() {
    assert_eq!(documented("cosi-sample-driver"), defined(&cosi_sample_driver::settings::Settings::command()));
}

#[test]
fn the_sandboxs_flags_are_those_of_the_readme() {
    assert_eq!(documented("cosi-sandbox"), defined(&cosi_sandbox::settings::Settings::command()));
}

#[test]
fn every_folder_of_the_workspace_is_in_the_layout() {
    let readme = readme();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in root.read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_crate = entry.path().join("Cargo.toml").exists();
        assert!(
            !is_crate || readme.contains(&format!("| `{name}/` |")),
            "{name}/ is not in the README's layout"
        );
    }
}
