//! What is not ours, with ours: drivers in other languages, grpcurl, and the linter of protocol files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod by_hand;
mod drivers;
mod lint;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::time::sleep;

/// A folder with nothing in it but one for the socket, and the endpoint there.
fn place() -> (TempDir, String) {
    let folder = tempfile::Builder::new().prefix("cosi-foreign-").tempdir().unwrap();
    fs::create_dir(folder.path().join("socket")).unwrap();
    let endpoint = format!("unix://{}/socket/cosi.sock", folder.path().display());
    (folder, endpoint)
}

/// Somebody listens at the endpoint.
async fn answers(endpoint: &str, log: impl Fn() -> String) {
    let socket = Path::new(endpoint.trim_start_matches("unix://"));
    let give_up = Instant::now() + Duration::from_secs(30);
    while UnixStream::connect(socket).await.is_err() {
        assert!(Instant::now() < give_up, "no driver at {endpoint}: {}", log());
        sleep(Duration::from_millis(10)).await;
    }
}
