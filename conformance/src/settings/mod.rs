//! Flags.

mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use cosi_proto::v1alpha2 as wire;

pub use self::values::{Endpoint, InvalidEndpoint, Pair, Restart};
use self::values::{check_id, duration, name_prefix, url};

/// Tests a COSI driver over its socket: what it must do so that no bucket and no account is ever orphaned.
///
/// Buckets and accounts are made at the driver's backend, and taken away again. Exit code 0: no requirement is broken; 1: some
/// are; 2: the driver could not be tested.
#[derive(Clone, Debug, Parser)]
#[command(name = "cosi-conformance", version)]
pub struct Settings {
    /// Socket of the driver: unix:// and an absolute path
    #[arg(long, env = "COSI_ENDPOINT", default_value = "unix:///var/lib/cosi/cosi.sock")]
    pub endpoint: Endpoint,

    /// Only these checks, and those that they build upon
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = check_id)]
    pub only: Vec<String>,

    /// All but these checks
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = check_id)]
    pub skip: Vec<String>,

    /// List all checks, and do nothing
    #[arg(long)]
    pub list: bool,

    /// Tell what the driver is and can, instead of testing it
    #[arg(long, conflicts_with = "list")]
    pub probe: bool,

    /// Write the report to this file as JSON, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the report to this file as JUnit XML, too
    #[arg(long, value_name = "FILE", conflicts_with = "probe")]
    pub junit: Option<PathBuf>,

    /// Parameter for buckets, as a BucketClass has it
    #[arg(long = "parameter", value_name = "KEY=VALUE")]
    pub parameter: Vec<Pair>,

    /// Parameters, known to the driver, for a bucket that must not be taken for one with those of --parameter
    #[arg(long = "other-parameter", value_name = "KEY=VALUE")]
    pub other_parameter: Vec<Pair>,

    /// Parameter for accounts, as a BucketAccessClass has it
    #[arg(long = "access-parameter", value_name = "KEY=VALUE")]
    pub access_parameter: Vec<Pair>,

    /// Protocol of buckets and accounts [default: the first that the driver supports, of S3, Azure and GCS]
    #[arg(long)]
    pub protocol: Option<Protocol>,

    /// How users of accounts prove who they are
    #[arg(long, default_value = "key")]
    pub authentication: Authentication,

    /// Kubernetes ServiceAccount that accounts of authentication type ServiceAccount are for
    #[arg(long, default_value = "cosi-conformance")]
    pub service_account: String,

    /// What the names of all buckets and accounts begin with
    #[arg(long, default_value = "conformance-", value_parser = name_prefix)]
    pub name_prefix: String,

    /// Deadline of each call
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub timeout: Duration,

    /// How long after a call's deadline its work may go on, and how long is watched for what appears too late
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub late_landing_grace: Duration,

    /// How long the backend may take until a change of rights has an effect
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub settle: Duration,

    /// How often a call is made that must give the same result each time
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub repeat: u32,

    /// How many callers ask for the same thing at once
    #[arg(long, default_value = "16", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub callers: u32,

    /// How many races of making against undoing are run
    #[arg(long, default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,

    /// URL of the S3 server as seen from here [default: what the driver answers]
    #[arg(long, value_parser = url)]
    pub s3_endpoint: Option<String>,

    /// Shell command that restarts the driver and returns when it may be called again
    #[arg(long, value_name = "COMMAND")]
    pub restart_command: Option<Restart>,

    /// Exit code 1 for warnings, too
    #[arg(long)]
    pub strict: bool,
}

/// An object storage protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// S3.
    S3,
    /// Azure Blob Storage.
    Azure,
    /// Google Cloud Storage.
    Gcs,
}

impl From<Protocol> for wire::object_protocol::Type {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::S3 => Self::S3,
            Protocol::Azure => Self::Azure,
            Protocol::Gcs => Self::Gcs,
        }
    }
}

/// How users of an account prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Authentication {
    /// By a key that the driver makes.
    Key,
    /// By the Kubernetes ServiceAccount that their pods run as.
    #[value(name = "serviceaccount")]
    ServiceAccount,
}

impl Authentication {
    pub(crate) fn to_wire(self) -> wire::authentication_type::Type {
        match self {
            Self::Key => wire::authentication_type::Type::Key,
            Self::ServiceAccount => wire::authentication_type::Type::ServiceAccount,
        }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Key => Self::ServiceAccount,
            Self::ServiceAccount => Self::Key,
        }
    }
}

impl Settings {
    /// The settings of a command line without flags, but for the endpoint.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        let mut settings = Self::parse_from(["cosi-conformance", "--endpoint", "unix:///cosi.sock"]);
        settings.endpoint = endpoint;
        settings
    }

    pub(crate) fn parameters(&self) -> BTreeMap<String, String> {
        map(&self.parameter)
    }

    pub(crate) fn other_parameters(&self) -> BTreeMap<String, String> {
        map(&self.other_parameter)
    }

    pub(crate) fn access_parameters(&self) -> BTreeMap<String, String> {
        map(&self.access_parameter)
    }

    /// Values that somebody may have meant to be secret.
    pub(crate) fn parameter_values(&self) -> impl Iterator<Item = String> {
        let pairs = self.parameter.iter().chain(&self.other_parameter).chain(&self.access_parameter);
        pairs.map(|pair| pair.value.clone())
    }
}

fn map(pairs: &[Pair]) -> BTreeMap<String, String> {
    pairs.iter().map(|pair| (pair.key.clone(), pair.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        Settings::command().debug_assert();
    }

    #[rstest]
    #[case(&["--endpoint", "tcp://host:1"], "must begin with unix://")]
    #[case(&["--only", "no-such-check"], "no check is called")]
    #[case(&["--parameter", "novalue"], "KEY=VALUE")]
    #[case(&["--timeout", "0s"], "longer than nothing")]
    #[case(&["--repeat", "1"], "2..=1000")]
    #[case(&["--name-prefix", "A"], "DNS-1123")]
    #[case(&["--s3-endpoint", "host:9000"], "not a URL")]
    #[case(&["--protocol", "nfs"], "nfs")]
    fn a_wrong_value_is_refused_with_a_reason(#[case] flags: &[&str], #[case] reason: &str) {
        let error = Settings::try_parse_from([&["cosi-conformance"], flags].concat()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }

    /// I7: people put keys there.
    #[test]
    fn values_of_parameters_are_not_in_debug_output() {
        let flags = ["c", "--parameter", "a=canary-1", "--access-parameter", "b=canary-2"];
        let settings = Settings::try_parse_from(flags).unwrap();
        assert_eq!(settings.parameters(), [("a".to_owned(), "canary-1".to_owned())].into());
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
