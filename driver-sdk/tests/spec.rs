//! The specification and its trace: no requirement without a number of its own, a place in the code, and a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Pages with requirements.
const PAGES: [&str; 3] = ["general.md", "buckets.md", "accounts.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Each requirement with its text, from the list items that begin with a number in bold.
fn requirements() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for page in PAGES {
        let text = read(&format!("docs/spec/{page}"));
        for item in text.split("\n- **COSI-").skip(1) {
            let (id, rest) = item.split_once("** ").unwrap();
            let paragraph = rest.split("\n\n").next().unwrap().split("\n- ").next().unwrap();
            let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(found.insert(format!("COSI-{id}"), text).is_none(), "COSI-{id} is there twice");
        }
    }
    found
}

struct Row {
    who: String,
    code: Vec<String>,
    tests: Vec<String>,
}

fn trace() -> BTreeMap<String, Row> {
    let text = read("docs/spec/trace.md");
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| COSI-")) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let row = Row { who: cells[2].to_owned(), code: quoted(cells[3]), tests: quoted(cells[4]) };
        assert!(rows.insert(cells[1].to_owned(), row).is_none(), "{} is there twice", cells[1]);
    }
    rows
}

#[test]
fn every_requirement_is_in_the_trace_and_nothing_else_is() {
    let (wanted, found) = (requirements(), trace());
    assert!(wanted.len() > 70, "the pages were not read: {}", wanted.len());
    let (wanted, found): (BTreeSet<_>, BTreeSet<_>) = (wanted.keys().collect(), found.keys().collect());
    assert_eq!(wanted, found);
}

#[test]
fn every_requirement_says_how_binding_it_is_and_why() {
    let binding = ["MUST", "SHOULD", "MAY"];
    for (id, text) in requirements() {
        let (rule, why) = text.split_once(" *Why:* ").unwrap_or_else(|| panic!("{id} has no reason"));
        assert!(binding.iter().any(|word| rule.contains(word)), "{id} binds nobody: {rule}");
        assert!(why.ends_with('.') && why.len() > 2, "{id}: {why}");
    }
}

/// The proto file is what authors in other languages read first.
#[test]
fn every_number_of_the_proto_file_is_in_the_specification() {
    let known = requirements();
    let proto = read("proto/sigs/k8s/io/cosi/v1alpha2/cosi.proto");
    let numbers = proto.lines().filter_map(|line| line.trim().strip_prefix("// COSI-")).map(|rest| {
        format!("COSI-{}", rest.split(|c: char| c != '-' && !c.is_ascii_alphanumeric()).next().unwrap())
    });
    let numbers: BTreeSet<_> =
        numbers.filter(|number| number.ends_with(|c: char| c.is_ascii_digit())).collect();
    assert!(numbers.len() > 50, "{numbers:?}");
    let unknown: Vec<_> = numbers.iter().filter(|number| !known.contains_key(*number)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_file_and_test_that_the_trace_names_is_there() {
    for (id, row) in trace() {
        assert!(!row.who.is_empty() && !row.code.is_empty(), "{id}: nobody and nothing upholds it");
        assert!(!row.tests.is_empty(), "{id} has no test");
        for path in &row.code {
            assert!(root().join(path).exists(), "{id}: there is no {path}");
        }
        for test in &row.tests {
            let found = match test.strip_prefix("conformance: ") {
                Some(number) => is_checked(number),
                None => is_tested(test),
            };
            assert!(found, "{id}: there is no {test}");
        }
    }
}

/// `path::function`, a function that is marked as a test.
fn is_tested(test: &str) -> bool {
    let (path, function) = test.split_once("::").unwrap();
    let source = read(path);
    let Some((before, _)) = source.split_once(&format!("fn {function}(")) else { return false };
    // Between the attribute and the function there are only more attributes and cases.
    let attributes = before.rsplit("\n\n").next().unwrap();
    ["#[test]", "#[rstest]", "::test"].iter().any(|mark| attributes.contains(mark))
}

/// A check of the conformance suite names this requirement.
fn is_checked(number: &str) -> bool {
    let Ok(checks) = fs::read_dir(root().join("conformance/src/checks")) else { return false };
    let quoted = format!("\"{number}\"");
    checks.flatten().any(|file| fs::read_to_string(file.path()).is_ok_and(|text| text.contains(&quoted)))
}
