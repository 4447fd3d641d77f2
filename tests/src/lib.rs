//! Tests across crates and processes, and what they share.

pub mod canary;
pub mod devcluster;
pub mod foreign;
mod go;
pub mod object_store;
pub mod seaweed;
pub mod sidecar;
pub mod skip;

/// Installs ring as the process's TLS crypto provider; once is enough, and calling it again does no harm.
///
/// Every `main` and every test that speaks TLS calls it first: a workspace build also contains the AWS SDK's
/// provider, and rustls refuses to choose between two.
pub fn crypto() {
    // The error only says that a provider was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
