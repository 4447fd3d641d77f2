//! A real kube-apiserver for tests: the one that `TEST_KUBECONFIG` names, else one of our own.
//!
//! `KUBECONFIG` is never looked at, so that nobody's cluster is touched by accident.
//!
//! ```no_run
//! # use cosi_tests::devcluster;
//! # async fn a_bucket_becomes_ready() {
//! let Some(cluster) = devcluster::or_skip("a_bucket_becomes_ready") else {
//!     return;
//! };
//! let client = cluster.client().unwrap();
//! # }
//! ```

mod access;
mod binary;
mod controllers;
mod crds;
mod server;

use std::{
    env,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

pub use crate::go::BuildError;
pub use access::{AccessError, client_of, plain_kubeconfig};
pub use controllers::ControllersError;
pub use crds::InstallError;
pub use server::{Server, ServerError, ServerOptions};

use crate::{go, skip};
use controllers::Controllers;

/// The variable that names the kubeconfig of the cluster to use.
pub const TEST_KUBECONFIG: &str = "TEST_KUBECONFIG";

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Neither `TEST_KUBECONFIG` nor Go is there; tests skip.
    #[error(
        "needs a Kubernetes API server: TEST_KUBECONFIG is not set and there is no Go on PATH to build one with"
    )]
    NotHere,
    /// The server's program cannot be built.
    #[error("building the API server")]
    Build(#[from] BuildError),
    /// The server does not start.
    #[error("starting the API server")]
    Server(#[from] ServerError),
    /// The kubeconfig cannot be used.
    #[error("reading the cluster's kubeconfig")]
    Access(#[from] AccessError),
    /// The CRDs cannot be installed.
    #[error("installing the CRDs")]
    Crds(#[from] InstallError),
    /// The controllers do not work.
    #[error("starting the garbage collector and the namespace controller")]
    Controllers(#[from] ControllersError),
}

/// A cluster with our CRDs in it. A server that was started for it ends when it is dropped, and at the latest
/// with this process, however that ends.
#[derive(Debug)]
pub struct DevCluster {
    kubeconfig: PathBuf,
    config: kube::Config,
    controllers: OnceLock<Result<Option<Controllers>, Arc<StartError>>>,
    _server: Option<Server>,
}

/// The cluster for the test named `test`, or `None` after saying that it is skipped.
///
/// # Panics
/// If there should be a cluster but it does not come up; with `CI=true` also if there is none.
#[must_use]
pub fn or_skip(test: &str) -> Option<Arc<DevCluster>> {
    match DevCluster::get() {
        Ok(cluster) => Some(cluster),
        Err(error) => match *error {
            StartError::NotHere => {
                skip::report(test, &error.to_string());
                None
            }
            #[allow(clippy::panic, reason = "a panic is how a test fails")]
            _ => panic!("no cluster for {test}: {}", chain(&*error)),
        },
    }
}

/// As [`or_skip`], and the cluster's garbage collector and namespace controller are at work.
///
/// # Panics
/// As [`or_skip`].
#[must_use]
pub fn with_controllers_or_skip(test: &str) -> Option<Arc<DevCluster>> {
    let cluster = or_skip(test)?;
    match cluster.controllers() {
        Ok(()) => Some(cluster),
        Err(error) => match *error {
            StartError::NotHere => {
                skip::report(test, "the cluster of TEST_KUBECONFIG has no controllers, and there is no Go");
                None
            }
            #[allow(clippy::panic, reason = "a panic is how a test fails")]
            _ => panic!("no controllers for {test}: {}", chain(&*error)),
        },
    }
}

/// Whether [`DevCluster::start`] can build a server here: tests that need one of their own skip if not.
#[must_use]
pub fn can_start() -> bool {
    go::is_here()
}

/// One cluster for a whole run of tests: keep it while they run, and give them its [`DevCluster::kubeconfig_path`]
/// in [`TEST_KUBECONFIG`]. If that is set already, it is used here, too.
///
/// Blocks while the server is built (minutes, the first time) and started (seconds).
///
/// # Errors
/// [`StartError`]
pub fn start_for_run() -> Result<DevCluster, StartError> {
    let given = env::var_os(TEST_KUBECONFIG).filter(|path| !path.is_empty());
    match given {
        Some(path) => DevCluster::attach(path.into()),
        None => DevCluster::start(&ServerOptions::default()),
    }
}

impl DevCluster {
    /// The cluster of this process: the first call starts it, as [`start_for_run`] does.
    ///
    /// # Errors
    /// [`StartError`], the same to everybody who asks.
    pub fn get() -> Result<Arc<Self>, Arc<StartError>> {
        static CLUSTER: OnceLock<Result<Arc<DevCluster>, Arc<StartError>>> = OnceLock::new();
        CLUSTER.get_or_init(|| start_for_run().map(Arc::new).map_err(Arc::new)).clone()
    }

    /// A cluster of the caller's own, whatever `TEST_KUBECONFIG` says: for tests that restart or configure it.
    ///
    /// # Errors
    /// [`StartError`]
    pub fn start(options: &ServerOptions) -> Result<Self, StartError> {
        if !go::is_here() {
            return Err(StartError::NotHere);
        }
        let program = binary::build()?;
        let server = Server::start(&program, options)?;
        Self::connect(server.kubeconfig(), Some(server))
    }

    /// The cluster that `kubeconfig` reaches, with our CRDs put into it; it stays when this is dropped.
    ///
    /// # Errors
    /// [`StartError`]
    pub fn attach(kubeconfig: PathBuf) -> Result<Self, StartError> {
        Self::connect(kubeconfig, None)
    }

    fn connect(kubeconfig: PathBuf, server: Option<Server>) -> Result<Self, StartError> {
        let config = blocking(access::read(&kubeconfig))?;
        let cluster = Self { kubeconfig, config, controllers: OnceLock::new(), _server: server };
        let folder = crds::folder();
        blocking(async { crds::install(cluster.client()?, &folder).await.map_err(StartError::from) })?;
        Ok(cluster)
    }

    /// Sees to it that owner references are collected and deleted namespaces go away: the first call starts the two
    /// controllers, which end with this process, unless the cluster has its own.
    ///
    /// # Errors
    /// [`StartError`], the same to everybody who asks.
    pub fn controllers(&self) -> Result<(), Arc<StartError>> {
        let started = self.controllers.get_or_init(|| self.start_controllers().map_err(Arc::new));
        started.as_ref().map(drop).map_err(Arc::clone)
    }

    fn start_controllers(&self) -> Result<Option<Controllers>, StartError> {
        if blocking(async { controllers::are_there(self.client()?).await.map_err(StartError::from) })? {
            return Ok(None);
        }
        if !go::is_here() {
            return Err(StartError::NotHere);
        }
        let mut controllers = Controllers::start(&binary::build()?, &self.kubeconfig)?;
        blocking(async { controllers.wait_ready(self.client()?).await.map_err(StartError::from) })?;
        Ok(Some(controllers))
    }

    /// The admin's kubeconfig, for processes under test.
    #[must_use]
    pub fn kubeconfig_path(&self) -> &Path {
        &self.kubeconfig
    }

    /// The kubeconfig of user `limited`, who may do nothing until a role is bound to that name. Only clusters that
    /// were started here have one.
    #[must_use]
    pub fn limited_kubeconfig_path(&self) -> Option<PathBuf> {
        let path = self.kubeconfig.with_file_name("limited.kubeconfig");
        path.exists().then_some(path)
    }

    /// How the admin connects: URL, CA certificates and credentials. No request is retried by the client library.
    #[must_use]
    pub fn config(&self) -> kube::Config {
        self.config.clone()
    }

    /// The server's URL, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        self.config.cluster_url.to_string().trim_end_matches('/').to_owned()
    }

    /// The certificates to trust, DER encoded.
    #[must_use]
    pub fn ca_certificates(&self) -> Vec<Vec<u8>> {
        self.config.root_cert.clone().unwrap_or_default()
    }

    /// The admin's bearer token; a foreign cluster may identify its admin otherwise.
    #[must_use]
    pub fn token(&self) -> Option<String> {
        access::token(&self.config)
    }

    /// A new client for the admin. It belongs to the runtime that it is made in, hence each test makes its own.
    ///
    /// # Errors
    /// [`AccessError`]
    pub fn client(&self) -> Result<kube::Client, AccessError> {
        access::client(self.config())
    }
}

/// Runs `work` to its end on a thread of its own, so that callers inside and outside of a runtime may wait for it.
fn blocking<T: Send, E: Send + From<AccessError>>(
    work: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, E> {
    let run = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().map_err(AccessError::Runtime)?.block_on(work)
    };
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// An error with all its causes, for a person.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
