//! A running driver.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use cosi_conformance::settings::Endpoint;
use cosi_proto::v1alpha2::identity_server::IdentityServer;
use cosi_proto::v1alpha2::provisioner_server::ProvisionerServer;
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::service::Routes;
use tonic::transport::Server;

use super::backend::Backend;
use super::service::Service;
use super::vice::Vice;

/// A driver, until it is dropped.
pub(crate) struct TestDriver {
    pub(crate) core: Arc<Core>,
    pub(crate) endpoint: Endpoint,
    folder: TempDir,
    _stop: DropGuard,
}

/// What all calls share.
pub(crate) struct Core {
    pub(crate) vice: Vice,
    pub(crate) s3: String,
    backend: Mutex<Backend>,
    /// One call at a time for each name or id.
    turns: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// It answers nobody any more.
    pub(crate) dead: AtomicBool,
    /// Calls in all.
    pub(crate) calls: Mutex<u64>,
}

impl Core {
    pub(crate) fn backend(&self) -> MutexGuard<'_, Backend> {
        self.backend.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How many buckets and accounts were ever made.
    pub(crate) fn made(&self) -> u64 {
        self.backend().serials()
    }

    pub(crate) async fn turn(&self, key: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = Arc::clone(self.turns.lock().unwrap().entry(key.to_owned()).or_default());
        turn.lock_owned().await
    }
}

impl TestDriver {
    pub(crate) async fn start(vice: Vice) -> Self {
        let stop = CancellationToken::new();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let s3 = format!("http://{}", listener.local_addr().unwrap());
        let core = Arc::new(Core {
            vice,
            s3,
            backend: Mutex::default(),
            turns: Mutex::default(),
            dead: AtomicBool::default(),
            calls: Mutex::default(),
        });
        tokio::spawn(stop.clone().run_until_cancelled_owned(super::s3::serve(Arc::clone(&core), listener)));
        let folder = TempDir::new().unwrap();
        let endpoint: Endpoint = format!("unix://{}/cosi.sock", folder.path().display()).parse().unwrap();
        let socket = UnixListener::bind(endpoint.path()).unwrap();
        let mode = if vice == Vice::SocketOpenToAll { 0o666 } else { 0o660 };
        std::fs::set_permissions(endpoint.path(), PermissionsExt::from_mode(mode)).unwrap();
        if vice == Vice::FileBesideSocket {
            std::fs::write(folder.path().join("driver.lock"), "").unwrap();
        }
        let serving = Server::builder()
            .add_routes(routes(&core))
            .serve_with_incoming_shutdown(UnixListenerStream::new(socket), stop.clone().cancelled_owned());
        tokio::spawn(serving);
        Self { core, endpoint, folder, _stop: stop.drop_guard() }
    }

    /// Everything that is at the backend.
    pub(crate) fn all(&self) -> Vec<String> {
        self.core.backend().all()
    }
}

fn routes(core: &Arc<Core>) -> Routes {
    let service = Service(Arc::clone(core));
    let mut routes =
        Routes::new(IdentityServer::new(service.clone())).add_service(ProvisionerServer::new(service));
    if core.vice != Vice::NoHealth {
        // A reporter says SERVING for the whole server from the start.
        routes = routes.add_service(tonic_health::server::health_reporter().1);
    }
    if core.vice != Vice::NoReflection {
        let builder = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(cosi_proto::FILE_DESCRIPTOR_SET)
        };
        routes =
            routes.add_service(builder().build_v1().unwrap()).add_service(builder().build_v1alpha().unwrap());
    }
    routes
}
