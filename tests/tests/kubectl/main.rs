//! A real kubectl and the API server in memory: what it prints is what it prints with a real API server.
//!
//! One script of commands is run on both, and the two transcripts are compared but for names, uids, times and revisions.
//! Where there is no real API server, the script is run on the one in memory alone, and has to pass there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod kubectl;
mod namespaces;
mod plain;
mod script;
mod transcript;

use cosi_apiserver::{ApiServer, Server, Settings, serve};
use cosi_tests::{devcluster, skip};
use kubectl::Kubectl;
use script::Step;
use transcript::Transcript;

/// An API server in memory, on loopback.
async fn embedded() -> Server {
    let server = ApiServer::new(Settings::default()).unwrap();
    serve(server, "127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// Runs the script for `test` on both servers, compares, and returns what was printed with the one in memory.
async fn same_with_both(test: &str, script: &[Step]) -> Option<Transcript> {
    if !kubectl::is_here() {
        skip::report(test, "there is no kubectl on PATH");
        return None;
    }
    let server = embedded().await;
    let ours = Kubectl::with_config(&server.kubeconfig(), test).run(script).await;
    if let Some(cluster) = devcluster::or_skip(test) {
        let config = std::fs::read_to_string(cluster.kubeconfig_path()).unwrap();
        let real = Kubectl::with_config(&config, test).run(script).await;
        transcript::assert_same(&real, &ours);
    }
    Some(ours)
}
