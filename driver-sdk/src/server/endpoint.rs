//! Where the socket is (COSI-GEN-1).

use std::env::{self, VarError};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cosi_proto::{DEFAULT_ENDPOINT, ENDPOINT_VARIABLE};

const SCHEME: &str = "unix://";
const SUFFIX: &str = ".sock";
/// What Linux lets a socket address hold, without the terminating zero.
const MAX_PATH: usize = 107;

/// The address of a driver's socket: `unix://` and an absolute path that ends with `.sock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(PathBuf);

/// An address that a driver can't be served on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Another scheme, or none.
    #[error("the endpoint {0:?} must begin with unix://")]
    Scheme(String),
    /// Another ending.
    #[error("the endpoint {0:?} must end with .sock")]
    Suffix(String),
    /// What follows `unix://` is not absolute.
    #[error("the endpoint {0:?} must have an absolute path, as in unix:///var/lib/cosi/cosi.sock")]
    Relative(String),
    /// Linux allows 107 bytes.
    #[error("the path of the endpoint {0:?} is longer than the 107 bytes that a socket address holds")]
    TooLong(String),
    /// A zero byte.
    #[error("the endpoint {0:?} has a zero byte in it")]
    ZeroByte(String),
    /// The variable is set to something that is not UTF-8.
    #[error("the environment variable COSI_ENDPOINT is not UTF-8")]
    NotUnicode,
}

impl Endpoint {
    /// The address that `COSI_ENDPOINT` names, or `unix:///var/lib/cosi/cosi.sock` if it is not set.
    ///
    /// # Errors
    /// If the variable holds no such address; empty is not the same as not set.
    pub fn from_env() -> Result<Self, EndpointError> {
        match env::var(ENDPOINT_VARIABLE) {
            Ok(text) => text.parse(),
            Err(VarError::NotPresent) => DEFAULT_ENDPOINT.parse(),
            Err(VarError::NotUnicode(_)) => Err(EndpointError::NotUnicode),
        }
    }

    /// The path of the socket file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some(path) = text.strip_prefix(SCHEME) else {
            return Err(EndpointError::Scheme(text.to_owned()));
        };
        if !path.ends_with(SUFFIX) {
            return Err(EndpointError::Suffix(text.to_owned()));
        }
        if !path.starts_with('/') {
            return Err(EndpointError::Relative(text.to_owned()));
        }
        if path.len() > MAX_PATH {
            return Err(EndpointError::TooLong(text.to_owned()));
        }
        if path.contains('\0') {
            return Err(EndpointError::ZeroByte(text.to_owned()));
        }
        Ok(Self(path.into()))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.0.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn the_default_is_a_good_endpoint() {
        let endpoint: Endpoint = DEFAULT_ENDPOINT.parse().unwrap();
        assert_eq!(endpoint.path(), Path::new("/var/lib/cosi/cosi.sock"));
        assert_eq!(endpoint.to_string(), DEFAULT_ENDPOINT);
    }

    #[rstest]
    #[case("")]
    #[case("/var/lib/cosi/cosi.sock")]
    #[case("tcp://127.0.0.1:80/cosi.sock")]
    #[case("unix:/var/lib/cosi/cosi.sock")]
    #[case("UNIX:///cosi.sock")]
    #[case("unix:///var/lib/cosi/cosi")]
    #[case("unix://cosi.sock")]
    #[case("unix:///a\0.sock")]
    fn an_endpoint_without_scheme_suffix_or_absolute_path_is_refused(#[case] text: &str) {
        let error = text.parse::<Endpoint>().unwrap_err();
        assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
    }

    #[test]
    fn a_path_that_a_socket_address_cannot_hold_is_refused() {
        let path = |length: usize| format!("unix:///{}.sock", "a".repeat(length - "/.sock".len()));
        assert!(path(107).parse::<Endpoint>().is_ok());
        assert!(matches!(path(108).parse::<Endpoint>(), Err(EndpointError::TooLong(_))));
    }
}
