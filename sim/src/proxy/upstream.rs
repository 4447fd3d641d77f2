//! The real API server behind the proxy.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, Uri, header, uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::{CertificateDer, pem::PemObject};

/// Where the API server is and how to be let in.
#[derive(Clone, Default)]
pub struct Upstream {
    /// Base URL, `http` or `https`, without a path.
    pub url: String,
    /// Its certificate authority as PEM; needed for `https`.
    pub ca_pem: Option<Vec<u8>>,
    /// Bearer token that the proxy adds; none leaves the client's own `Authorization` as it is.
    pub token: Option<String>,
}

/// Why a proxy could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The upstream URL can't be used.
    #[error("the API server's URL {0:?} is not of the form http(s)://host:port")]
    Url(String),
    /// The certificate authority can't be read.
    #[error("the API server's certificate authority is not usable PEM")]
    CertificateAuthority(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The token can't stand in a header.
    #[error("the bearer token has characters that no header may have")]
    Token(#[source] header::InvalidHeaderValue),
    /// No port to listen on.
    #[error("cannot listen on a loopback port")]
    Listen(#[source] std::io::Error),
}

/// Shorter than any server keeps an idle connection: a request must not run into one that is being closed.
const IDLE: Duration = Duration::from_secs(20);

/// A connection pool to the API server.
pub(super) struct Forwarder {
    client: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    scheme: uri::Scheme,
    authority: uri::Authority,
    token: Option<HeaderValue>,
}

impl Forwarder {
    pub(super) fn new(upstream: &Upstream) -> Result<Self, StartError> {
        let url = || StartError::Url(upstream.url.clone());
        let parts = upstream.url.parse::<Uri>().map_err(|_| url())?.into_parts();
        let token = upstream.token.as_ref().map(|token| HeaderValue::try_from(format!("Bearer {token}")));
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(upstream.ca_pem.as_deref().unwrap_or_default())?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Ok(Self {
            client: legacy::Client::builder(TokioExecutor::new()).pool_idle_timeout(IDLE).build(connector),
            scheme: parts.scheme.ok_or_else(url)?,
            authority: parts.authority.ok_or_else(url)?,
            token: token.transpose().map_err(StartError::Token)?,
        })
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: uri::PathAndQuery,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, legacy::Error> {
        // The body's length is known anew, the host is another, and watches are read line by line.
        for name in [header::HOST, header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
            headers.remove(name);
        }
        headers.remove(header::ACCEPT_ENCODING);
        if let Some(token) = &self.token {
            headers.insert(header::AUTHORIZATION, token.clone());
        }
        let mut parts = uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        let mut request = http::Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
        *request.headers_mut() = headers;
        self.client.request(request).await
    }
}

fn tls(ca_pem: &[u8]) -> Result<rustls::ClientConfig, StartError> {
    let unusable = |error: Box<dyn std::error::Error + Send + Sync>| StartError::CertificateAuthority(error);
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca_pem) {
        roots.add(certificate.map_err(|e| unusable(e.into()))?).map_err(|e| unusable(e.into()))?;
    }
    if roots.is_empty() && !ca_pem.is_empty() {
        return Err(unusable("no certificate in it".into()));
    }
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .map_err(|e| unusable(e.into()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
