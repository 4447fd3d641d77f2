//! The Kubernetes API server that the demo runs on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cosi_tests::devcluster::{DevCluster, ServerOptions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio_util::sync::CancellationToken;

/// A running API server. Dropping it ends it.
pub(super) enum ApiServer {
    /// In this process and in memory.
    Embedded { _server: cosi_apiserver::Server, kubeconfig: PathBuf },
    /// A kube-apiserver with etcd.
    Real(Box<DevCluster>),
}

impl ApiServer {
    /// Starts the one in memory; `kubeconfig` is written.
    pub(super) async fn embedded(kubeconfig: PathBuf) -> Result<Self> {
        let address = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
        let server = cosi_apiserver::ApiServer::new(cosi_apiserver::Settings::default());
        let server = server.context("make the API server")?;
        // It ends with the runtime.
        tokio::spawn(cosi_apiserver::controllers::run(server.clone(), CancellationToken::new()));
        let server = cosi_apiserver::serve(server, address).await;
        let server = server.context("start the API server")?;
        std::fs::write(&kubeconfig, server.kubeconfig()).context("write the kubeconfig")?;
        Ok(Self::Embedded { _server: server, kubeconfig })
    }

    /// Starts a real one, which is built first if need be.
    pub(super) async fn real() -> Result<Self> {
        // Never TEST_KUBECONFIG: whatever cluster that names, a demo has no business there.
        let start = || DevCluster::start(&ServerOptions::default());
        let cluster = tokio::task::spawn_blocking(start).await.context("start the API server")??;
        Ok(Self::Real(Box::new(cluster)))
    }

    /// The path of its kubeconfig.
    pub(super) fn kubeconfig(&self) -> &Path {
        match self {
            Self::Embedded { kubeconfig, .. } => kubeconfig,
            Self::Real(cluster) => cluster.kubeconfig_path(),
        }
    }

    /// A client with the rights of an administrator.
    pub(super) async fn client(&self) -> Result<Client> {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig()).context("read the kubeconfig")?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Client::try_from(config.context("read the kubeconfig")?).context("connect to the API server")
    }
}
