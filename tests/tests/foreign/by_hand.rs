//! A driver on the SDK answers a plain grpcurl: services are listed, every RPC is called, without the protocol file. The
//! commands are those that `docs/spec/debugging.md` gives to people.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use cosi_tests::foreign::{self, Foreign, console};
use cosi_tests::sidecar::Sidecar;
use tempfile::TempDir;

use super::{answers, place};

const PROVISIONER: &str = "sigs.k8s.io.cosi.v1alpha2.Provisioner";

/// A shell in which `grpcurl` is on PATH, and `$SOCKET` and `$P` are what the guide says.
fn shell(foreign: &Foreign, endpoint: &str, command: &str) -> Output {
    let path = format!("{}:{}", foreign.go_programs().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("PATH", path).env("SOCKET", endpoint).env("P", PROVISIONER);
    shell.output().unwrap()
}

/// The sample driver with its embedded backend in that folder; it answers.
async fn sample_driver(folder: &TempDir, endpoint: &str) -> Sidecar {
    let data = folder.path().join("data").display().to_string();
    let args = ["--endpoint", endpoint, "--s3-listen", "127.0.0.1:0", "--data-dir", &data];
    let mut driver = Sidecar::of("cosi-sample-driver", args).unwrap();
    driver.start().unwrap();
    answers(endpoint, || driver.log()).await;
    driver
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn grpcurl_lists_the_services_and_calls_every_rpc() {
    let Some(foreign) = foreign::or_skip("grpcurl calls every RPC") else { return };
    let (folder, endpoint) = place();
    let _driver = sample_driver(&folder, &endpoint).await;

    let services = told(&shell(foreign, &endpoint, "grpcurl -plaintext $SOCKET list"));
    let expected = [
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        "sigs.k8s.io.cosi.v1alpha2.Identity",
        PROVISIONER,
    ];
    assert_eq!(services.lines().collect::<Vec<_>>(), expected);

    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/spec/debugging.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut called = BTreeSet::new();
    for command in ["# Debugging a driver by hand", "## A whole life", "## What nobody learnt the id of"]
        .into_iter()
        .flat_map(|heading| console::commands(&guide, heading))
        .filter(|command| command.starts_with("grpcurl "))
    {
        let answer = told(&shell(
            foreign,
            &endpoint,
            &command.replace("BUCKET-ID", "by-hand").replace("ACCOUNT-ID", "by-hand"),
        ));
        assert!(
            command.ends_with(" list") || command.contains(" describe ") || answer.starts_with('{'),
            "{answer}"
        );
        called.extend(command.rsplit_once('/').map(|(_, rpc)| rpc.to_owned()));
    }

    let rpcs = told(&shell(foreign, &endpoint, "grpcurl -plaintext $SOCKET list $P"));
    let mut all: BTreeSet<_> =
        rpcs.lines().filter_map(|rpc| rpc.rsplit_once('.')).map(|(_, rpc)| rpc.to_owned()).collect();
    assert_eq!(all.len(), 7, "{rpcs}");
    all.extend(["DriverGetInfo", "Check"].map(str::to_owned));
    assert_eq!(called, all, "the guide shows every RPC");
    assert_eq!(fs::read_dir(folder.path().join("data/buckets")).unwrap().count(), 0);
}

/// What the guide says of deadlines and of calls that come too late.
#[tokio::test(flavor = "multi_thread")]
async fn grpcurl_is_told_by_code_and_sentence_what_was_wrong() {
    let Some(foreign) = foreign::or_skip("grpcurl is told what was wrong") else { return };
    let (folder, endpoint) = place();
    let _driver = sample_driver(&folder, &endpoint).await;
    let create =
        "-d '{\"name\":\"by-hand\",\"parameters\":{\"tpyo\":\"canary\"}}' $SOCKET $P/DriverCreateBucket";
    for (flags, code, word) in [
        ("-H 'cosi-not-after-ns: 1'", "FailedPrecondition", "later"),
        ("-max-time 5", "InvalidArgument", "tpyo"),
    ] {
        let output = shell(foreign, &endpoint, &format!("grpcurl -plaintext {flags} {create}"));
        let answer = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && answer.contains(code) && answer.contains(word), "{answer}");
        assert!(!answer.contains("canary"), "{answer}");
    }
}
