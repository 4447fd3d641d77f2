//! The Kubernetes API server that the demo runs on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cosi_tests::devcluster::{DevCluster, ServerOptions};
use kube::Client;

/// A running API server. Dropping it ends it.
pub(super) enum ApiServer {
    /// In this process and in memory.
    Embedded { _server: cosi_apiserver::Server, kubeconfig: PathBuf, client: Client },
    /// A kube-apiserver with etcd.
    Real(Box<DevCluster>),
}

impl ApiServer {
    /// Starts the one in memory; `kubeconfig` is written.
    pub(super) async fn embedded(kubeconfig: PathBuf) -> Result<Self> {
        let address = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
        let server = cosi_apiserver::ApiServer::new(cosi_apiserver::Settings::default());
        let server = server.context("make the API server")?;
        let client = Client::new(server.clone(), "default");
        let server = cosi_apiserver::serve(server, address).await;
        let server = server.context("start the API server")?;
        std::fs::write(&kubeconfig, server.kubeconfig()).context("write the kubeconfig")?;
        Ok(Self::Embedded { _server: server, kubeconfig, client })
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
    pub(super) fn client(&self) -> Result<Client> {
        match self {
            Self::Embedded { client, .. } => Ok(client.clone()),
            Self::Real(cluster) => cluster.client().context("connect to the API server"),
        }
    }
}
