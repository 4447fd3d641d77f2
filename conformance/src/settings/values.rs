//! Values of flags, checked when they are read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

/// The address of a driver's socket: `unix://` and an absolute path that ends with `.sock` (COSI-GEN-1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(PathBuf);

/// An address that a driver can't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidEndpoint {
    /// Another scheme, or none.
    #[error("an endpoint must begin with unix:// and an absolute path, as in unix:///var/lib/cosi/cosi.sock")]
    Scheme,
    /// Another ending.
    #[error("an endpoint must end with .sock")]
    Suffix,
}

impl Endpoint {
    /// The socket's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl FromStr for Endpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = text.strip_prefix("unix://").filter(|path| path.starts_with('/'));
        let path = path.ok_or(InvalidEndpoint::Scheme)?;
        let ends = path
            .rsplit('/')
            .next()
            .and_then(|name| name.strip_suffix(".sock"))
            .is_some_and(|stem| !stem.is_empty());
        if ends { Ok(Self(path.into())) } else { Err(InvalidEndpoint::Suffix) }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unix://{}", self.0.display())
    }
}

/// A parameter. Debug leaves the value out: people put secrets there (COSI-SECRET-2).
#[derive(Clone, PartialEq, Eq)]
pub struct Pair {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: String,
}

impl FromStr for Pair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                Ok(Self { key: key.to_owned(), value: value.to_owned() })
            }
            _ => Err("write a parameter as KEY=VALUE"),
        }
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=(hidden)", self.key)
    }
}

/// How the driver is restarted.
#[derive(Clone)]
pub enum Restart {
    /// By a command of the shell. It returns when the driver may be called again.
    Command(String),
    /// By a function, for drivers in the same process.
    Call(Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>),
}

impl From<String> for Restart {
    fn from(command: String) -> Self {
        Self::Command(command)
    }
}

impl fmt::Debug for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(f, "Command({command:?})"),
            Self::Call(_) => f.write_str("Call(…)"),
        }
    }
}

pub(super) fn check_id(text: &str) -> Result<String, String> {
    if crate::checks::all().any(|check| check.id == text) {
        return Ok(text.to_owned());
    }
    Err(format!("no check is called {text:?}; --list names them all"))
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("it must be longer than nothing".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("write it like 500ms, 10s or 5m: {error}")),
    }
}

pub(super) fn name_prefix(text: &str) -> Result<String, &'static str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = text.starts_with(|c: char| plain(c) && c != '-');
    if begins && text.len() <= 40 && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Err("use 1 to 40 characters that may begin a DNS-1123 label: a-z, 0-9 and -, not first")
}

pub(super) fn url(text: &str) -> Result<String, String> {
    let uri: http::Uri = text.parse().map_err(|error| format!("not a URL: {error}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err("not a URL like http://host:port".to_owned()),
    }
}
