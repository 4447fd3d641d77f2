//! The protocol file as tools of other languages see it.

use std::path::Path;
use std::process::Command;

use cosi_tests::foreign::{self, Foreign};

fn protocol() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../proto"))
}

fn lint(tools: &Foreign, config: &Path) -> (bool, String) {
    let mut buf = Command::new(tools.buf());
    let output = buf.current_dir(protocol()).arg("lint").arg("--config").arg(config).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_protocol_file_is_clean() {
    let Some(tools) = foreign::or_skip("the protocol file is clean") else { return };
    let (clean, told) = lint(tools, &protocol().join("buf.yaml"));
    assert!(clean, "{told}");
}

/// What is excepted is only what other drivers and sidecars fixed: each exception is needed, and by names of theirs.
#[test]
fn no_rule_is_excepted_but_for_names_that_the_wire_protocol_fixes() {
    let Some(tools) = foreign::or_skip("no rule is excepted but for names") else { return };
    let config = std::fs::read_to_string(protocol().join("buf.yaml")).unwrap();
    let (_, excepted) = config.split_once("except:\n").unwrap();
    let excepted = excepted.lines().take_while(|line| line.starts_with("    "));
    let excepted: Vec<_> = excepted.filter_map(|line| line.strip_prefix("    - ")).collect();
    assert_eq!(excepted, ["ENUM_VALUE_PREFIX", "ENUM_ZERO_VALUE_SUFFIX", "SERVICE_SUFFIX"]);
    let folder = tempfile::tempdir().unwrap();
    for rule in excepted {
        let without = folder.path().join("buf.yaml");
        std::fs::write(&without, config.replace(&format!("    - {rule}\n"), "")).unwrap();
        let (clean, told) = lint(tools, &without);
        assert!(!clean && !told.is_empty(), "{rule} need not be excepted");
        assert!(told.lines().all(|line| line.contains("cosi.proto")), "{rule}: {told}");
    }
}
