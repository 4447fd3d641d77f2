//! Puts the parts together and runs them until told to stop.

mod s3;

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf, absolute},
    sync::Arc,
};

use cosi_driver_sdk::{AddressingStyle, BindError, BoundServer, Endpoint, ServeError, Server};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

pub use self::s3::LedgerFileError;
use crate::{
    backend::{self, OperatorKeyError, S3Server, operator_key},
    driver::{Profile, SampleDriver},
    settings::{Backend, Misuse, Settings},
    store::{KeyPair, OpenError, Store},
};

/// The driver can't start, or had to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Flags don't go together.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The data would lie where only the socket may be (protocol: nothing else beside the socket).
    #[error("{flag} {} must not be the socket's folder or lie in it", .path.display())]
    DataBesideSocket {
        /// Which flag says so.
        flag: &'static str,
        /// Where the data would be.
        path: PathBuf,
    },
    /// The data directory can't be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The ledger of the s3 backend can't be used.
    #[error(transparent)]
    LedgerFile(#[from] LedgerFileError),
    /// The operator's credentials can't be used.
    #[error(transparent)]
    Credentials(#[from] OperatorKeyError),
    /// The S3 address is taken, or not this machine's.
    #[error("can't listen for S3 on {0} (--s3-listen)")]
    Listen(SocketAddr, #[source] io::Error),
    /// Users can't reach "any address".
    #[error("--s3-listen {0} is no address that users can reach: say which with --s3-endpoint")]
    NoEndpoint(SocketAddr),
    /// The driver's socket can't be had.
    #[error(transparent)]
    Socket(#[from] BindError),
    /// The driver's server broke, or calls didn't end in time.
    #[error("the driver's server stopped")]
    Serve(#[from] ServeError),
    /// The disk failed under the ledger. A restart opens it anew.
    #[error("the ledger can't be used any more after a disk error; start again once the disk is well")]
    Ledger,
    /// The S3 server broke.
    #[error("the S3 server stopped")]
    S3(#[source] io::Error),
}

/// Serves COSI, and with the embedded backend S3, until `stop` resolves; then lets running calls and requests end.
///
/// # Errors
/// See [`RunError`]. The end of either server is the end of both.
pub async fn run(settings: &Settings, stop: impl Future<Output = ()>) -> Result<(), RunError> {
    settings.check()?;
    match settings.backend {
        Backend::Embedded => Bound::bind(settings).await?.run_until(stop).await,
        Backend::S3 => s3::run(settings, stop).await,
    }
}

/// A driver with the embedded backend that has its socket and its address and answers nobody yet.
pub struct Bound {
    store: Arc<Store>,
    operator: KeyPair,
    listener: TcpListener,
    address: SocketAddr,
    driver: BoundServer,
}

impl Bound {
    /// Opens the store and takes socket and address.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn bind(settings: &Settings) -> Result<Self, RunError> {
        keep_apart("--data-dir", &settings.data_dir, &settings.endpoint)?;
        let store = Arc::new(Store::open(&settings.data_dir, settings.id_prefix.clone())?);
        let operator = operator(&settings.credentials_file())?;
        let cannot = |e| RunError::Listen(settings.s3_listen, e);
        let listener = TcpListener::bind(settings.s3_listen).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let profile = profile(settings, address)?;
        tracing::info!(%address, advertised = profile.endpoint, "S3 server listens");
        let driver = Server::new(SampleDriver::new(Arc::clone(&store), profile));
        let driver = driver.bind(&settings.endpoint).await?;
        Ok(Self { store, operator, listener, address, driver })
    }

    /// Where the S3 server listens, with the port that it was given.
    #[must_use]
    pub fn s3_address(&self) -> SocketAddr {
        self.address
    }

    /// Serves COSI and S3 until `stop` resolves; then lets running calls and requests end.
    ///
    /// # Errors
    /// See [`RunError`]. The end of either server is the end of both.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), RunError> {
        let Self { store, operator, listener, driver, .. } = self;
        let end_of_s3 = CancellationToken::new();
        let s3 = backend::serve(listener, S3Server::new(Arc::clone(&store), operator), end_of_s3.clone());
        let mut s3 = AbortOnDropHandle::new(tokio::spawn(s3));
        tokio::select! {
            ended = driver.run_until(stop) => ended?,
            ended = &mut s3 => return s3_end(ended),
            () = store.broken() => return Err(RunError::Ledger),
        }
        end_of_s3.cancel();
        s3_end(s3.await)
    }
}

fn s3_end(ended: Result<io::Result<()>, tokio::task::JoinError>) -> Result<(), RunError> {
    ended.unwrap_or_else(|panicked| Err(io::Error::other(panicked))).map_err(RunError::S3)
}

fn keep_apart(flag: &'static str, path: &Path, endpoint: &Endpoint) -> Result<(), RunError> {
    match (absolute(path), endpoint.path().parent()) {
        (Ok(data), Some(socket)) if data.starts_with(socket) => {
            Err(RunError::DataBesideSocket { flag, path: path.into() })
        }
        _ => Ok(()),
    }
}

fn operator(credentials: &Path) -> Result<KeyPair, RunError> {
    let key = operator_key(credentials)?;
    tracing::info!(file = %credentials.display(), "the operator's S3 credentials are in this file");
    Ok(key)
}

fn profile(settings: &Settings, s3: SocketAddr) -> Result<Profile, RunError> {
    let endpoint = match &settings.s3_endpoint {
        Some(endpoint) => endpoint.clone(),
        None if s3.ip().is_unspecified() => return Err(RunError::NoEndpoint(s3)),
        None => format!("http://{s3}"),
    };
    if settings.s3_listen.port() == 0 {
        tracing::warn!(
            "the port of the S3 server changes with every start, and users' Secrets hold it: good for tests only"
        );
    }
    Ok(Profile {
        info: settings.driver_name.clone(),
        endpoint,
        region: settings.region.clone(),
        addressing_style: AddressingStyle::Path,
        create_delay: settings.create_delay,
        grant_delay: settings.grant_delay,
    })
}
