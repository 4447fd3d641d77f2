//! HTTP and HTTPS connections. `SSL_CERT_FILE` names further certificates to trust, as with most tools.

use std::error::Error;
use std::sync::{Arc, OnceLock};

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
}

impl Connections {
    pub(super) fn new() -> Self {
        let http = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Self { http, https: OnceLock::new() }
    }

    /// Fails with a reason for people.
    pub(super) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, String> {
        let answer = if request.uri().scheme() == Some(&Scheme::HTTPS) {
            let https = self.https.get_or_init(|| https().map_err(|error| why(&error)));
            https.as_ref().map_err(Clone::clone)?.request(request).await
        } else {
            self.http.request(request).await
        };
        answer.map_err(|error| why(&error))
    }
}

fn https() -> Result<Https, rustls::Error> {
    let https = HttpsConnectorBuilder::new().with_tls_config(tls()?).https_only().enable_http1().build();
    Ok(Client::builder(TokioExecutor::new()).build(https))
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
