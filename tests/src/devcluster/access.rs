//! How to reach a cluster: kubeconfigs, clients, credentials.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use secrecy::ExposeSecret as _;

/// Why a kubeconfig cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The file is missing or makes no sense.
    #[error("kubeconfig {path}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<KubeconfigError>,
    },
    /// No client can be made of it.
    #[error("making a Kubernetes client")]
    Client(#[source] Box<kube::Error>),
    /// The machine has no more threads or descriptors.
    #[error("starting a runtime")]
    Runtime(#[source] io::Error),
}

pub(super) async fn read(path: &Path) -> Result<kube::Config, AccessError> {
    let wrong = |source| AccessError::Kubeconfig { path: path.to_owned(), source: Box::new(source) };
    let file = Kubeconfig::read_from(path).map_err(wrong)?;
    let mut config =
        kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.map_err(wrong)?;
    // A test must see each failure, and count each request.
    config.default_retry = false;
    Ok(config)
}

pub(super) fn client(config: kube::Config) -> Result<kube::Client, AccessError> {
    crate::crypto();
    kube::Client::try_from(config).map_err(|error| AccessError::Client(Box::new(error)))
}

/// A client with the rights that a kubeconfig gives. It does not retry.
///
/// # Errors
/// [`AccessError`]
pub async fn client_of(kubeconfig: &Path) -> Result<kube::Client, AccessError> {
    client(read(kubeconfig).await?)
}

pub(super) fn token(config: &kube::Config) -> Option<String> {
    config.auth_info.token.as_ref().map(|token| token.expose_secret().to_owned())
}

/// A kubeconfig for a server without TLS at `url`, such as a proxy before the API server; the file goes away when
/// the handle does. Without a `token`, whatever is at `url` must authenticate for its clients.
///
/// # Errors
/// If the file cannot be written.
pub fn plain_kubeconfig(url: &str, token: Option<&str>) -> io::Result<tempfile::NamedTempFile> {
    let user = token.map_or_else(|| serde_json::json!({}), |token| serde_json::json!({ "token": token }));
    // JSON is YAML, too, and knows how to quote.
    let content = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "plain", "cluster": { "server": url } }],
        "users": [{ "name": "plain", "user": user }],
        "contexts": [{ "name": "plain", "context": { "cluster": "plain", "user": "plain" } }],
        "current-context": "plain",
    });
    let mut file = tempfile::Builder::new().prefix("cosi-").suffix(".kubeconfig").tempfile()?;
    file.write_all(content.to_string().as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::{plain_kubeconfig, read, token};

    #[tokio::test]
    async fn a_plain_kubeconfig_is_read_back_with_url_and_token() {
        let file = plain_kubeconfig("http://127.0.0.1:1234", Some("abc")).unwrap();
        let config = read(file.path()).await.unwrap();
        assert_eq!(config.cluster_url.to_string(), "http://127.0.0.1:1234/");
        assert_eq!(token(&config).as_deref(), Some("abc"));
    }

    #[tokio::test]
    async fn a_plain_kubeconfig_needs_no_token() {
        let file = plain_kubeconfig("http://127.0.0.1:1234", None).unwrap();
        assert_eq!(token(&read(file.path()).await.unwrap()), None);
    }

    #[tokio::test]
    async fn a_missing_kubeconfig_is_named() {
        let error = read("/nowhere/kubeconfig".as_ref()).await.unwrap_err();
        assert_eq!(error.to_string(), "kubeconfig /nowhere/kubeconfig");
    }
}
