//! Flags and environment variables.

mod fit;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};
use cosi_driver_sdk::{DriverInfo, Endpoint, Protocol};

pub use self::fit::Misuse;
use crate::store::IdPrefix;

const S3_LISTEN: &str = "127.0.0.1:9330";

/// A COSI driver (v1alpha2, protocol S3) that keeps buckets in a folder and serves them by an S3 server of its own, or has
/// them made at a service with S3 and IAM APIs.
#[derive(Clone, Debug, Parser)]
#[command(name = "cosi-sample-driver", version, about)]
pub struct Settings {
    /// Socket on which the sidecar reaches the driver
    #[arg(long, env = "COSI_ENDPOINT", default_value = "unix:///var/lib/cosi/cosi.sock")]
    pub endpoint: Endpoint,

    /// Name of the driver: lower-case RFC 1035 labels joined by dots, at most 63 characters
    #[arg(long, env = "SAMPLE_DRIVER_DRIVER_NAME", default_value = "sample.objectstorage.local", value_parser = driver_info)]
    pub driver_name: DriverInfo,

    /// Where buckets are made
    #[arg(long, env = "SAMPLE_DRIVER_BACKEND", default_value = "embedded")]
    pub backend: Backend,

    /// Folder for buckets, accounts and the operator's credentials; not the socket's folder, nor one below it
    #[arg(long, env = "SAMPLE_DRIVER_DATA_DIR", default_value = "/var/lib/cosi-sample-driver")]
    pub data_dir: PathBuf,

    /// Address of the embedded S3 server. It stands in users' Secrets: keep it across restarts
    #[arg(long, env = "SAMPLE_DRIVER_S3_LISTEN", default_value = S3_LISTEN)]
    pub s3_listen: SocketAddr,

    /// URL at which users reach the S3 server; with the s3 backend the driver, too [default: http, at the address of
    /// --s3-listen; with the s3 backend AWS]
    #[arg(long, env = "SAMPLE_DRIVER_S3_ENDPOINT", value_parser = url)]
    pub s3_endpoint: Option<String>,

    /// With the s3 backend: URL of the IAM API [default: the S3 endpoint; AWS if there is none]
    #[arg(long, env = "SAMPLE_DRIVER_IAM_ENDPOINT", value_parser = url)]
    pub iam_endpoint: Option<String>,

    /// With the s3 backend: the bucket's name stands in the path of a URL, not in its host name
    #[arg(long, env = "SAMPLE_DRIVER_S3_PATH_STYLE")]
    pub s3_path_style: bool,

    /// With the s3 backend: file in which names are kept that are being made. Only one driver may use it [default:
    /// s3-ledger.redb in the data folder]
    #[arg(long, env = "SAMPLE_DRIVER_LEDGER")]
    pub ledger: Option<PathBuf>,

    /// Region told to users; the embedded server accepts any, and with the s3 backend buckets are made there
    #[arg(long, visible_alias = "s3-region", env = "SAMPLE_DRIVER_REGION", default_value = "us-east-1", value_parser = region)]
    pub region: String,

    /// What stands before the name in the ids of new buckets; ids that were given out stay as they are
    #[arg(long, env = "SAMPLE_DRIVER_ID_PREFIX", default_value = "")]
    pub id_prefix: IdPrefix,

    /// File for the operator's S3 key pair, made at the first start [default: operator-credentials in the data folder]
    #[arg(long, env = "SAMPLE_DRIVER_CREDENTIALS_FILE")]
    pub credentials_file: Option<PathBuf>,

    /// Wait after making a bucket before saying so, to play a slow backend: 100ms, 5s
    #[arg(long, env = "SAMPLE_DRIVER_CREATE_DELAY", default_value = "0s", value_parser = humantime::parse_duration)]
    pub create_delay: Duration,

    /// Wait after making an account before saying so, to play a slow backend
    #[arg(long, env = "SAMPLE_DRIVER_GRANT_DELAY", default_value = "0s", value_parser = humantime::parse_duration)]
    pub grant_delay: Duration,

    /// Form of the log lines on stderr
    #[arg(long, env = "SAMPLE_DRIVER_LOG_FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// Least important log lines to show
    #[arg(long, env = "SAMPLE_DRIVER_LOG_LEVEL", default_value = "info")]
    pub log_level: LogLevel,
}

/// Where buckets are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Backend {
    /// In a folder, with an S3 server in this process.
    Embedded,
    /// At a service that speaks S3 and has an IAM API; credentials come from the standard AWS chain.
    S3,
}

/// Form of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Importance of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogLevel {
    /// What went wrong.
    Error,
    /// And what may go wrong.
    Warn,
    /// And what happens.
    Info,
    /// And how.
    Debug,
    /// And everything else.
    Trace,
}

impl Settings {
    /// The operator's credentials file.
    #[must_use]
    pub fn credentials_file(&self) -> PathBuf {
        self.credentials_file.clone().unwrap_or_else(|| self.data_dir.join("operator-credentials"))
    }

    /// The ledger of the s3 backend.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.ledger.clone().unwrap_or_else(|| self.data_dir.join("s3-ledger.redb"))
    }
}

fn driver_info(name: &str) -> Result<DriverInfo, cosi_driver_sdk::InvalidValue> {
    DriverInfo::new(name, [Protocol::S3])
}

fn url(text: &str) -> Result<String, String> {
    let uri: http::Uri = text.parse().map_err(|e| format!("not a URL: {e}"))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err("not a URL like http://host:port".to_owned()),
    }
}

fn region(text: &str) -> Result<String, &'static str> {
    let usable =
        !text.is_empty() && text.len() <= 63 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if usable { Ok(text.to_owned()) } else { Err("use 1 to 63 letters, digits and '-'") }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        Settings::command().debug_assert();
    }

    #[test]
    fn every_flag_has_an_environment_variable_and_only_the_endpoint_one_with_the_cosi_prefix() {
        for arg in Settings::command()
            .get_arguments()
            .filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
        {
            let env = arg.get_env().and_then(|env| env.to_str()).unwrap_or_default();
            let expected = format!("SAMPLE_DRIVER_{}", arg.get_id().as_str().to_uppercase());
            assert!(env == expected || (arg.get_id() == "endpoint" && env == "COSI_ENDPOINT"), "{env}");
        }
    }

    #[rstest]
    #[case(&["--driver-name", "Not_a_name"])]
    #[case(&["--s3-listen", "localhost"])]
    #[case(&["--s3-endpoint", "host:9330"])]
    #[case(&["--id-prefix", "a/"])]
    #[case(&["--create-delay", "soon"])]
    #[case(&["--endpoint", "tcp://host:1"])]
    #[case(&["--region", ""])]
    #[case(&["--backend", "tape"])]
    #[case(&["--iam-endpoint", "iam"])]
    #[case(&["--no-such-flag"])]
    fn a_wrong_value_is_refused(#[case] flags: &[&str]) {
        let flags = [&["cosi-sample-driver"], flags].concat();
        assert!(Settings::try_parse_from(flags).is_err());
    }

    #[test]
    fn a_trailing_slash_does_not_get_into_the_advertised_url() {
        let settings = Settings::try_parse_from(["d", "--s3-endpoint", "https://s3.example.com/"]).unwrap();
        assert_eq!(settings.s3_endpoint.as_deref(), Some("https://s3.example.com"));
    }
}
