//! HTTP and HTTPS connections. `SSL_CERT_FILE` names further certificates to trust, as with most tools.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::uri::Scheme;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::{ClientConfig, RootCertStore};

use super::Body;

type Https = Client<HttpsConnector<HttpConnector>, Body>;

/// Both ways; what encryption takes is read when it is needed.
pub(super) struct Connections {
    http: Client<HttpConnector, Body>,
    https: OnceLock<Result<Https, String>>,
    limit: Duration,
}

/// There is no answer, for a reason in words.
pub(super) enum NoAnswer {
    /// Nor was anything asked.
    NotSent(String),
    /// It may have been done.
    Broken(String),
}

impl Connections {
    /// Connections that are there within so long, or not at all.
    pub(super) fn new(limit: Duration) -> Self {
        let http = Client::builder(TokioExecutor::new()).build(connector(limit));
        Self { http, https: OnceLock::new(), limit }
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, NoAnswer> {
        let answer = if request.uri().scheme() == Some(&Scheme::HTTPS) {
            let https = self.https.get_or_init(|| https(self.limit).map_err(|error| why(&error)));
            https.as_ref().map_err(|why| NoAnswer::NotSent(why.clone()))?.request(request).await
        } else {
            self.http.request(request).await
        };
        answer.map_err(|error| {
            let sent = if error.is_connect() { NoAnswer::NotSent } else { NoAnswer::Broken };
            sent(why(&error))
        })
    }
}

fn connector(limit: Duration) -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(limit));
    // Otherwise it refuses what is to be encrypted.
    connector.enforce_http(false);
    connector
}

fn https(limit: Duration) -> Result<Https, rustls::Error> {
    let https = HttpsConnectorBuilder::new().with_tls_config(tls()?).https_only().enable_http1();
    Ok(Client::builder(TokioExecutor::new()).build(https.wrap_connector(connector(limit))))
}

/// On a machine that trusts nobody, the error that follows says more than one from here would.
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
fn why(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
