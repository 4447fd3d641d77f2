//! HTTP and HTTPS connections. `SSL_CERT_FILE` names further certificates to trust, as with most tools.

use std::error::Error;
use std::sync::Arc;

use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};

use super::Body;

pub(super) type Client = legacy::Client<HttpsConnector<HttpConnector>, Body>;

/// Fails if the cryptography that was built in knows no version of TLS.
pub(super) fn client() -> Result<Client, rustls::Error> {
    let https = HttpsConnectorBuilder::new().with_tls_config(tls()?).https_or_http().enable_http1().build();
    Ok(legacy::Client::builder(TokioExecutor::new()).build(https))
}

/// A machine that trusts nobody can still use plain HTTP.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let trusting = match builder.clone().with_native_roots() {
        Ok(trusting) => trusting,
        Err(_) => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(trusting.with_no_client_auth())
}

/// What the innermost error says.
pub(super) fn why(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
