//! The client of the API server.

use std::path::PathBuf;
use std::time::Duration;

use kube::client::ClientBuilder;
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::limit::RateLimitLayer;

use crate::lease::{Tenure, guard};
use crate::settings::Settings;

/// Clients of the API server.
#[derive(Clone)]
pub struct Clients {
    /// For the work. It lets no write out while the tenure says no, and keeps to the limits of `--kube-api-qps`.
    pub work: Client,
    /// For the leader's Lease. It has a connection of its own, and is never held up.
    pub lease: Client,
}

/// There is no way to reach an API server.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file of `--kubeconfig` is of no use.
    #[error("--kubeconfig {} cannot be used", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<KubeconfigError>,
    },
    /// Neither a kubeconfig nor a pod's service account.
    #[error("this is not a pod with a service account; outside of a cluster, name one with --kubeconfig")]
    NotInCluster(#[source] InClusterError),
    /// The client could not be made from the configuration.
    #[error("the cluster's address, certificates or credentials cannot be used")]
    Client(#[source] Box<kube::Error>),
}

/// Makes the clients. Nothing is sent yet.
///
/// The library's own retries are off: a write that lands minutes after its decision is exactly what must not happen
/// (architecture, trap 1); retrying is decided by the lifecycle.
///
/// # Errors
///
/// [`ConnectError`] if the configuration is of no use.
pub async fn connect(settings: &Settings, tenure: &Tenure) -> Result<Clients, ConnectError> {
    let mut config = match &settings.kubeconfig {
        Some(path) => from_file(path)
            .await
            .map_err(|source| ConnectError::Kubeconfig { path: path.clone(), source: Box::new(source) })?,
        None => Config::incluster().map_err(ConnectError::NotInCluster)?,
    };
    config.default_retry = false;
    config.connect_timeout = Some(Duration::from_secs(5));
    let builder = || ClientBuilder::try_from(config.clone()).map_err(|e| ConnectError::Client(Box::new(e)));
    let lease = builder()?.build();
    let work = builder()?.with_layer(&guard(tenure.clone()));
    let work = match limit(settings) {
        Some((burst, per)) => work.with_layer(&RateLimitLayer::new(burst, per)).build(),
        None => work.build(),
    };
    Ok(Clients { work, lease })
}

async fn from_file(path: &std::path::Path) -> Result<Config, KubeconfigError> {
    Config::from_custom_kubeconfig(Kubeconfig::read_from(path)?, &KubeConfigOptions::default()).await
}

/// So many requests in so much time.
fn limit(settings: &Settings) -> Option<(u64, Duration)> {
    let qps = settings.kube_api_qps;
    let burst = if settings.kube_api_burst == 0 { qps } else { settings.kube_api_burst };
    (qps > 0).then(|| (u64::from(burst), Duration::from_secs_f64(f64::from(burst) / f64::from(qps))))
}
