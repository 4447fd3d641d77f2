//! What comes out: text, JSON, JUnit, exit codes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::driver::TestDriver;
use common::vice::Vice;
use common::{conformance, quick};
use cosi_conformance::report::{junit, text};
use cosi_conformance::{Report, probe};
use quick_junit::Report as Xml;
use rstest::rstest;
use tempfile::TempDir;

fn tool(flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cosi-conformance"))
        .env_remove("COSI_ENDPOINT")
        .args(flags)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A short run with something of everything in it.
async fn sample(vice: Vice) -> Report {
    let driver = TestDriver::start(vice).await;
    let mut settings = quick(&driver.endpoint);
    settings.only = [
        "health-is-served",
        "a-repeated-delete-is-ok",
        "a-deleted-bucket-is-gone",
        "a-restart-forgets-no-bucket",
    ]
    .map(str::to_owned)
    .to_vec();
    conformance(settings).await
}

/// The text without what is different in each run.
fn steady(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n', ',']).map(|word| {
        let plain = word.trim_end_matches([' ', '\n', ',', ':']);
        if plain.starts_with("unix://") {
            word.replace(plain, "unix:///…/cosi.sock")
        } else {
            word.to_owned()
        }
    });
    let text: String = words.collect();
    let (before, seconds) = text.rsplit_once(" in ").unwrap();
    let after = seconds.split_once(" s\n").unwrap().1;
    format!("{before} in … s\n{after}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_says_what_is_wrong_and_why_something_was_not_tried() {
    let report = sample(Vice::DeleteOfAbsentIsNotFound).await;
    insta::assert_snapshot!(steady(&text(&report)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warning_is_told_from_a_failure() {
    let report = sample(Vice::NoHealth).await;
    assert!(report.is_good() && report.has_warnings());
    assert!(
        text(&report).contains("warning  health-is-served (COSI-SOCK-2)\n         - warning: "),
        "{}",
        text(&report)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn junit_is_valid_and_counts_as_the_report_does() {
    let report = sample(Vice::DeleteOfAbsentIsNotFound).await;
    let xml = Xml::deserialize_from_str(&junit(&report, false).unwrap()).unwrap();
    assert_eq!((xml.tests, xml.failures), (report.outcomes.len(), 1));
    let case = |id: &str| {
        let cases = xml.test_suites.iter().flat_map(|suite| &suite.test_cases);
        cases.filter(|case| case.name.as_str() == id).count()
    };
    assert!(report.outcomes.iter().all(|outcome| case(outcome.id) == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn junit_has_warnings_as_failures_only_if_strict() {
    let report = sample(Vice::NoHealth).await;
    let failures = |strict| Xml::deserialize_from_str(&junit(&report, strict).unwrap()).unwrap().failures;
    assert_eq!((failures(false), failures(true)), (0, 1));
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_written_and_the_exit_code_says_that_something_is_wrong() {
    let driver = TestDriver::start(Vice::DeleteOfAbsentIsNotFound).await;
    let folder = TempDir::new().unwrap();
    let (json_file, junit_file) = (folder.path().join("r.json"), folder.path().join("r.xml"));
    let endpoint = driver.endpoint.to_string();
    let flags = [
        "--endpoint",
        &endpoint,
        "--only",
        "a-repeated-delete-is-ok",
        "--json",
        json_file.to_str().unwrap(),
        "--junit",
        junit_file.to_str().unwrap(),
    ];
    let output = tokio::task::spawn_blocking({
        let flags = flags.map(str::to_owned);
        move || tool(&flags.each_ref().map(String::as_str))
    })
    .await
    .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let report = json(&json_file);
    assert_eq!(report["driver"], "test.example.com");
    let last = report["outcomes"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["id"], &last["verdict"]), (&"a-repeated-delete-is-ok".into(), &"failed".into()));
    assert_eq!(last["findings"][0]["severity"], "must");
    assert!(last["requirements"].as_array().unwrap().contains(&"COSI-DELETE-1".into()));
    let xml = std::fs::read_to_string(&junit_file).unwrap();
    assert_eq!(Xml::deserialize_from_str(&xml).unwrap().failures, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_driver_is_exit_code_0_and_a_warning_1_only_if_strict() {
    for (vice, strict, code) in [(Vice::None, true, 0), (Vice::NoHealth, false, 0), (Vice::NoHealth, true, 1)]
    {
        let driver = TestDriver::start(vice).await;
        let endpoint = driver.endpoint.to_string();
        let output = tokio::task::spawn_blocking(move || {
            let flags = ["--endpoint", &endpoint, "--only", "health-is-served", "--strict"];
            tool(&flags[..if strict { 5 } else { 4 }])
        })
        .await
        .unwrap();
        assert_eq!(output.status.code(), Some(code), "{vice:?}: {}", stdout(&output));
    }
}

#[rstest]
#[case(&["--endpoint", "unix:///no/such/cosi.sock", "--timeout", "1s"], "no driver answers at unix:///no/such/cosi.sock")]
#[case(&["--endpoint", "tcp://host:1"], "must begin with unix://")]
#[case(&["--only", "nonsense"], "no check is called \"nonsense\"")]
#[case(&["--nonsense"], "--nonsense")]
#[case(&["--parameter", "x"], "KEY=VALUE")]
fn what_could_not_be_run_is_exit_code_2_and_one_sentence(#[case] flags: &[&str], #[case] sentence: &str) {
    let output = tool(flags);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(sentence) && error.lines().count() == 1, "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn help_and_version_are_no_errors() {
    for flag in ["--help", "--version"] {
        let output = tool(&[flag]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("cosi-conformance"));
    }
}

/// I7: a driver that puts a key into an error, and a parameter that was given.
#[tokio::test(flavor = "multi_thread")]
async fn neither_keys_nor_parameters_are_in_any_report() {
    let driver = TestDriver::start(Vice::EverythingInMessage).await;
    let mut settings = quick(&driver.endpoint);
    settings.parameter = vec!["color=c4n4ry-parameter".parse().unwrap()];
    let report = conformance(settings.clone()).await;
    assert!(text(&report).contains("(secret)"), "{}", text(&report));
    let reports = [
        text(&report),
        serde_json::to_string(&report).unwrap(),
        junit(&report, true).unwrap(),
        format!("{report:?}"),
    ];
    let told = probe(settings, std::future::pending()).await.unwrap();
    for text in reports.into_iter().chain([told.to_string(), serde_json::to_string(&told).unwrap()]) {
        assert!(!text.contains("c4n4ry") && !text.contains("AKID"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_tells_what_a_driver_can_and_leaves_nothing() {
    let driver = TestDriver::start(Vice::None).await;
    let told = probe(quick(&driver.endpoint), std::future::pending()).await.unwrap();
    let fact = |what: &str| {
        let found = told.facts.iter().find(|fact| fact.what == what);
        found.unwrap_or_else(|| panic!("{what} is not in\n{told}")).is.clone()
    };
    assert_eq!(fact("name"), "test.example.com");
    assert_eq!(fact("protocols"), "S3");
    assert_eq!(fact("health"), "SERVING");
    assert!(fact("reflection v1").contains("sigs.k8s.io.cosi.v1alpha2.Provisioner"));
    assert_eq!(fact("ids"), "made of the name");
    assert_eq!(fact("DriverDeleteBucketByName"), "offered");
    assert_eq!(fact("cosi-not-after-ns"), "known");
    assert_eq!(fact("a repeated grant"), "answers the same id, the same key");
    assert_eq!(told.left_over, Vec::<String>::new());
    assert_eq!(driver.all(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_tells_what_a_driver_lacks() {
    let facts = |vice| async move {
        let driver = TestDriver::start(vice).await;
        probe(quick(&driver.endpoint), std::future::pending()).await.unwrap().to_string()
    };
    let line = |text: &str, what: &str, is: &str| {
        let found = text.lines().find(|line| line.starts_with(what)).unwrap_or_default().to_owned();
        assert!(found.ends_with(is), "{what} is not {is:?}: {found:?} in\n{text}");
    };
    let text = facts(Vice::NoByName).await;
    line(&text, "DriverDeleteBucketByName", "not offered");
    line(&text, "DriverRevokeBucketAccessByName", "not offered");
    line(&facts(Vice::NoHealth).await, "health", "not served");
    line(&facts(Vice::NotAfterUnknown).await, "cosi-not-after-ns", "not known");
    line(&facts(Vice::NewKeyEachGrant).await, "a repeated grant", "another key");
    line(&facts(Vice::ForgetsOnRestart).await, "ids ", "chosen by the backend");
    line(&facts(Vice::NothingWorks).await, "not found out", "\"something went wrong\"");
}

/// The documents list the checks as the tool does.
#[test]
fn the_documented_list_is_that_of_the_tool() {
    let document =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md"))
            .unwrap();
    let listed = stdout(&tool(&["--list"]));
    assert!(listed.contains("`a-bucket-can-be-made` (MUST; COSI-CREATE-1"), "{listed}");
    assert!(document.contains(listed.trim()), "put this into docs/conformance.md:\n{listed}");
}

/// A number that leads nowhere helps nobody.
#[test]
fn every_requirement_that_a_check_names_is_in_the_specification() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/spec");
    let pages = ["general.md", "buckets.md", "accounts.md"];
    let spec: String = pages.iter().map(|page| std::fs::read_to_string(folder.join(page)).unwrap()).collect();
    for check in cosi_conformance::all() {
        for requirement in check.requirements {
            assert!(spec.contains(&format!("- **{requirement}** ")), "{} names {requirement}", check.id);
        }
    }
}
