//! The process: flags, start, stop, exit code, log, and an API server or driver that is not there.

use std::process::Command;
use std::time::{Duration, Instant};

use cosi_sim::driver::{On, Step};
use cosi_sim::proxy::{Action, Match};
use cosi_tests::sidecar::{Sidecar, beside_us};
use futures::future::join_all;
use rstest::rstest;

use crate::world::{Setup, TestBucket, Wish, World};

/// Exit code 2 and one sentence that names the flag, before anything is begun.
#[rstest]
#[case::unknown(&["--no-such-flag"], "--no-such-flag")]
#[case::no_unit(&["--timeout", "20"], "--timeout")]
#[case::zero(&["--retry-interval-start", "0s"], "longer than zero")]
#[case::relative(&["--driver-endpoint", "unix://cosi.sock"], "absolute")]
#[case::no_socket(&["--driver-endpoint", "unix:///cosi"], ".sock")]
#[case::level(&["--log-level", "cosi_sidecar=loud"], "--log-level")]
#[case::misspelt(&["--log-level", "wran"], "--log-level")]
fn a_wrong_flag_is_refused_with_its_name(#[case] args: &[&str], #[case] sentence: &str) {
    let output = Command::new(beside_us("cosi-sidecar")).args(args).env_clear().output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains(sentence), "{told}");
}

#[test]
fn the_version_is_that_of_the_workspace() {
    let output = Command::new(beside_us("cosi-sidecar")).arg("--version").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told.trim(), format!("cosi-sidecar {}", env!("CARGO_PKG_VERSION")));
}

/// C28: the exit code is not zero, and the last line of the log is the reason.
#[rstest]
#[case::no_cluster(&[], "name one with --kubeconfig")]
#[case::no_file(&["--kubeconfig", "/nowhere/config"], "--kubeconfig /nowhere/config cannot be used")]
#[case::no_config(&["--kubeconfig", "/proc/self/environ"], "--kubeconfig /proc/self/environ cannot be used")]
#[tokio::test]
async fn without_a_way_to_a_cluster_the_last_line_says_what_to_do(
    #[case] args: &[&str],
    #[case] sentence: &str,
) {
    let mut sidecar = Sidecar::new(args.iter().copied()).unwrap();
    sidecar.start().unwrap();
    let status = sidecar.wait_exit().await.unwrap();
    let log = sidecar.log();
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.lines().last().is_some_and(|line| line.contains(sentence)), "{log}");
}

/// Each setting has an environment variable, too; COSI_ENDPOINT is the only one with that prefix.
#[tokio::test]
async fn settings_come_from_the_environment_too() {
    let help = Command::new(beside_us("cosi-sidecar")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for line in help.lines().filter(|line| line.trim_start().starts_with("--")) {
        let flag = line.trim().split([' ', '[']).next().unwrap().trim_start_matches("--").to_owned();
        let variable = match flag.as_str() {
            "driver-endpoint" => "COSI_ENDPOINT".to_owned(),
            "help" | "version" => continue,
            other => format!("SIDECAR_{}", other.to_uppercase().replace('-', "_")),
        };
        assert!(help.contains(&format!("[env: {variable}=]")), "{flag} lacks {variable}:\n{help}");
    }
    let refused = Command::new(beside_us("cosi-sidecar")).env("SIDECAR_TIMEOUT", "soon").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

/// An API server that is not there is waited for: one sentence, no flood, and work begins when it comes.
#[tokio::test]
async fn an_api_server_that_cannot_be_reached_is_waited_for() {
    let Some(mut world) = Setup::default().sidecar_not_started().start().await else { return };
    world.proxy.go_down();
    world.sidecar.start().unwrap();
    world.sidecar.wait_log("the API server cannot be reached; trying again", 1).await.unwrap();
    let bucket = world.create(Wish::delete()).await;
    world.proxy.go_up();
    bucket.wait_ready().await;
    assert_eq!(world.sidecar.lines_with("cannot watch Buckets").len(), 1, "{}", world.sidecar.log());
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// Missing CRDs and missing rights: what to do, in one sentence; and no restart is needed once it is done.
#[rstest]
#[case::no_crds(404, "install the COSI CRDs")]
#[case::no_rights(403, "RBAC forbids it; allow get, list, watch and patch on buckets.objectstorage.k8s.io")]
#[case::no_login(401, "check the service account or --kubeconfig")]
#[tokio::test]
async fn a_cluster_that_is_not_set_up_is_waited_for(#[case] status: u16, #[case] sentence: &str) {
    let Some(mut world) = Setup::default().sidecar_not_started().start().await else { return };
    let refused = world.proxy.rule(Match::list("buckets").first(2), Action::status(status));
    world.sidecar.start().unwrap();
    refused.wait_hits(2).await.unwrap();
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    assert_eq!(world.sidecar.lines_with(sentence).len(), 1, "{}", world.sidecar.log());
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// A write that RBAC forbids is named in the log, with the API server's own reason; nothing is lost.
#[tokio::test]
async fn a_forbidden_write_is_told_in_the_log_and_repeated() {
    let Some(world) = World::start().await else { return };
    world.proxy.rule(Match::patch("buckets/status").first(2), Action::status(403));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    assert_eq!(world.driver.count(&On::create()), 1, "R7: the result is remembered");
    let told = world.sidecar.lines_with("the API server forbids it");
    assert!(told.len() == 2 && told.iter().all(|line| line.contains("what=\"status\"")), "{told:?}");
    bucket.release().await;
    bucket.wait_gone().await;
    world.end_empty().await;
}

/// C41: the sidecar first, then the driver, then a driver that restarts in a loop.
#[tokio::test]
async fn a_driver_that_is_not_there_or_comes_and_goes_is_waited_for() {
    let Some(mut world) = Setup::default().driver_not_started().start().await else { return };
    world.sidecar.wait_log("waiting for the driver", 1).await.unwrap();
    let buckets = world.create_many(20, &Wish::delete()).await;
    for _ in 0..5 {
        let before = world.driver.count(&On::get_info());
        world.driver.restart().unwrap();
        world.driver.wait_calls(&On::get_info(), before + 1).await.unwrap();
        world.driver.kill();
    }
    assert!(world.sidecar.is_running());
    world.driver.restart().unwrap();
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    join_all(buckets.iter().map(TestBucket::release)).await;
    join_all(buckets.iter().map(TestBucket::wait_gone)).await;
    world.end_empty().await;
}

/// A stop with nothing to do is quick and clean.
#[tokio::test]
async fn a_stop_without_running_calls_takes_less_than_a_second() {
    let Some(mut world) = World::start().await else { return };
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    let begin = Instant::now();
    world.sidecar.terminate().unwrap();
    let status = world.sidecar.wait_exit().await.unwrap();
    assert!(status.success(), "{}", world.sidecar.log());
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    world.end_stopped().await;
}

/// A stop waits for a running call and records its result; what waits is not begun.
#[tokio::test]
async fn a_stop_lets_a_running_create_end_and_records_it() {
    let setup = Setup::default().timeout(Duration::from_secs(20)).arg("--worker-threads").arg("1");
    let Some(mut world) = setup.start().await else { return };
    let slow = world.driver.rule(On::create().nth(1), Step::do_then_hold());
    let running = world.create(Wish::delete()).await;
    slow.wait_hit().await.unwrap();
    let waiting = world.create(Wish::delete()).await;
    world.sidecar.terminate().unwrap();
    world.sidecar.wait_log("stopping: no new calls", 1).await.unwrap();
    slow.release();
    let status = world.sidecar.wait_exit().await.unwrap();
    assert!(status.success(), "{}", world.sidecar.log());
    running.wait_ready().await;
    assert_eq!(world.driver.count(&On::create()), 1, "{} was not begun", waiting.name);

    world.sidecar.start().unwrap();
    waiting.wait_ready().await;
    for bucket in [running, waiting] {
        bucket.release().await;
        bucket.wait_gone().await;
    }
    world.end_empty().await;
}

/// `--log-format json`: one JSON object a line, warnings with names as fields.
#[tokio::test]
async fn json_lines_can_be_parsed() {
    let Some(world) = Setup::default().arg("--log-format").arg("json").start().await else { return };
    let bad = "line one\nline \"two\" \u{1b}[31m";
    world.driver.rule(On::create().nth(1), Step::fail(tonic::Code::InvalidArgument).message(bad));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_error("INVALID_ARGUMENT").await;
    world.sidecar.wait_log("Refused", 1).await.unwrap();
    let lines: Vec<serde_json::Value> =
        world.sidecar.log().lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(lines.iter().any(|line| line["bucket"] == bucket.name.as_str() && line["reason"] == "Refused"));
    world.end().await;
}

/// `--kube-api-qps` and `--kube-api-burst` bound what reaches the API server.
#[tokio::test]
async fn requests_to_the_api_server_can_be_limited() {
    let setup = Setup::default().arg("--kube-api-qps").arg("20").arg("--kube-api-burst").arg("5");
    let Some(world) = setup.start().await else { return };
    let begin = Instant::now();
    let buckets = world.create_many(30, &Wish::delete()).await;
    join_all(buckets.iter().map(TestBucket::wait_ready)).await;
    // 60 writes at 20 a second, less two bursts.
    assert!(begin.elapsed() > Duration::from_millis(2500), "{:?}", begin.elapsed());
    world.end().await;
}
