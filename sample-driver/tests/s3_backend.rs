//! The process with the s3 backend, where no service is needed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use common::place::{Place, create, refused};
use rstest::rstest;
use tonic::Code;

/// Nothing listens on the port of a closed listener.
fn nowhere() -> String {
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", held.local_addr().unwrap())
}

/// C38, C41: a driver starts before its service. With TLS, too, whatever other TLS providers are compiled in.
#[rstest]
#[case::plain("http")]
#[case::tls("https")]
#[tokio::test]
async fn a_service_that_is_not_there_is_unavailable_and_not_empty(#[case] scheme: &str) {
    let place = Place::new();
    let endpoint = nowhere().replace("http", scheme);
    let driver = place.start(&["--backend", "s3", "--s3-endpoint", &endpoint]).await;
    let answer = driver.rpc().await.driver_create_bucket(create("bc-1", &[])).await;
    refused(answer, Code::Unavailable, "can't be reached");
    assert_eq!(driver.info().await.unwrap(), "sample.objectstorage.local");
}

#[tokio::test]
async fn without_credentials_a_call_fails_and_says_why() {
    let place = Place::new();
    let none = [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")];
    let driver = place.start_with(&["--backend", "s3", "--s3-endpoint", &nowhere()], &none).await;
    let status = driver.rpc().await.driver_create_bucket(create("bc-1", &[])).await.unwrap_err();
    assert!([Code::Unauthenticated, Code::Unavailable].contains(&status.code()), "{status:?}");
    assert!(status.message().contains("credentials"), "{status:?}");
}

#[tokio::test]
async fn sigterm_ends_the_driver_cleanly_and_a_second_driver_on_its_ledger_is_refused() {
    let place = Place::new();
    let endpoint = nowhere();
    let flags = ["--backend", "s3", "--s3-endpoint", &endpoint];
    let first = place.start(&flags).await;
    let (status, log) = place.refusal(&flags);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains("another process has the ledger"), "{log}");
    first.signal("-TERM");
    assert!(first.ended().success());
    assert!(!place.socket().exists());
}

/// C28.
#[rstest]
#[case::misuse(&["--backend", "s3", "--id-prefix", "a"], "--id-prefix is for --backend embedded, and the backend is s3")]
#[case::other_misuse(&["--s3-path-style"], "--s3-path-style is for --backend s3, and the backend is embedded")]
#[case::ledger(&["--backend", "s3", "--ledger", "/dev/null/file"], "ledger")]
fn flags_that_do_not_go_together_are_refused_in_the_last_line(#[case] flags: &[&str], #[case] words: &str) {
    let (status, log) = Place::new().refusal(flags);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains(words), "{log}");
}

#[test]
fn a_ledger_beside_the_socket_is_refused() {
    let place = Place::new();
    let ledger = place.socket().with_file_name("ledger.redb");
    let (status, log) = place.refusal(&["--backend", "s3", "--ledger", ledger.to_str().unwrap()]);
    assert_eq!(status.code(), Some(1));
    assert!(log.lines().last().unwrap().contains("--ledger"), "{log}");
}
