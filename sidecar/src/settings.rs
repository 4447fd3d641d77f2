//! The command line and its environment variables.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use cosi_api::value::DriverName;
use cosi_proto::{DEFAULT_ENDPOINT, ENDPOINT_VARIABLE};

/// Runs beside a COSI driver: makes and deletes its buckets as Kubernetes objects ask for them, and never orphans one.
#[derive(Clone, Debug, Parser)]
#[command(name = "cosi-sidecar", version, about, long_about = None)]
pub struct Settings {
    /// The driver's UNIX socket, as unix:///PATH.sock
    #[arg(long, env = ENDPOINT_VARIABLE, default_value = DEFAULT_ENDPOINT, value_parser = endpoint, value_name = "URL")]
    pub driver_endpoint: PathBuf,

    /// Kubeconfig file of the cluster; without it, the pod's service account is used
    #[arg(long, env = "SIDECAR_KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The driver's name, taken until the driver itself tells it; a different answer stops the sidecar
    #[arg(long, env = "SIDECAR_DRIVER_NAME", value_name = "NAME")]
    pub driver_name: Option<DriverName>,

    /// Deadline of each driver call
    #[arg(long, env = "SIDECAR_TIMEOUT", default_value = "20s", value_parser = positive, value_name = "DURATION")]
    pub timeout: Duration,

    /// How long after a call without certain outcome its effect may still land at the backend
    #[arg(long, env = "SIDECAR_LATE_LANDING_GRACE", default_value = "10s", value_parser = duration, value_name = "DURATION")]
    pub late_landing_grace: Duration,

    /// First wait before a failed call is tried again; doubles with each failure
    #[arg(long, env = "SIDECAR_RETRY_INTERVAL_START", default_value = "1s", value_parser = positive, value_name = "DURATION")]
    pub retry_interval_start: Duration,

    /// Longest wait before a failed call is tried again
    #[arg(long, env = "SIDECAR_RETRY_INTERVAL_MAX", default_value = "5m", value_parser = positive, value_name = "DURATION")]
    pub retry_interval_max: Duration,

    /// Names of S3 values in the Secrets of accesses: COSI's own, those that AWS tools read, or both
    #[arg(long, env = "SIDECAR_SECRET_KEYS", default_value = "cosi", value_enum, value_name = "NAMES")]
    pub secret_keys: SecretKeys,

    /// How many objects of each kind are worked on at the same time
    #[arg(long, env = "SIDECAR_WORKER_THREADS", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096), value_name = "N")]
    pub worker_threads: u16,

    /// Most requests per second to the API server, on average; 0 sets no limit
    #[arg(long, env = "SIDECAR_KUBE_API_QPS", default_value_t = 0, value_name = "N")]
    pub kube_api_qps: u32,

    /// Most requests to the API server at once within --kube-api-qps; 0 means as many as --kube-api-qps
    #[arg(long, env = "SIDECAR_KUBE_API_BURST", default_value_t = 0, value_name = "N")]
    pub kube_api_burst: u32,

    /// How often a terminal error is tried again though nothing changed
    #[arg(long, env = "SIDECAR_RECHECK_INTERVAL", default_value = "30m", value_parser = positive, value_name = "DURATION")]
    pub recheck_interval: Duration,

    /// Form of the log lines on standard error
    #[arg(long, env = "SIDECAR_LOG_FORMAT", default_value = "text", value_enum, value_name = "FORMAT")]
    pub log_format: LogFormat,

    /// Least severe log lines to print: error, warn, info, debug or trace; or by module with libraries, as in debug,h2=warn
    #[arg(long, env = "SIDECAR_LOG_LEVEL", default_value = "info", value_name = "LEVEL")]
    pub log_level: String,
}

/// Names of S3 values in the Secrets of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SecretKeys {
    /// As COSI names them: `COSI_S3_ENDPOINT` and so on.
    #[default]
    Cosi,
    /// As AWS tools and SDKs read them without more ado: `AWS_ENDPOINT_URL` and so on.
    Aws,
    /// Each value under both names.
    Both,
}

/// Form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one JSON object a line.
    Json,
}

impl Settings {
    /// The part that decisions depend on.
    #[must_use]
    pub const fn lifecycle(&self) -> cosi_lifecycle::Settings {
        cosi_lifecycle::Settings {
            timeout: self.timeout,
            late_landing_grace: self.late_landing_grace,
            retry_interval_start: self.retry_interval_start,
            retry_interval_max: self.retry_interval_max,
            recheck_interval: self.recheck_interval,
        }
    }
}

/// The path of a `unix://…​.sock` URL.
fn endpoint(text: &str) -> Result<PathBuf, String> {
    let path = text
        .strip_prefix("unix://")
        .ok_or("it must begin with unix://, as in unix:///var/lib/cosi/cosi.sock")?;
    if !path.starts_with('/') {
        return Err(
            "the path must be absolute: three slashes, as in unix:///var/lib/cosi/cosi.sock".to_owned()
        );
    }
    if path.strip_suffix(".sock").is_none() {
        return Err("it must end with .sock, as in unix:///var/lib/cosi/cosi.sock".to_owned());
    }
    Ok(PathBuf::from(path))
}

/// The longest duration that makes sense; longer ones are slips of the pen, and would overflow what counts with them.
const LONGEST: Duration = Duration::from_hours(30 * 24);

fn duration(text: &str) -> Result<Duration, String> {
    let duration =
        humantime::parse_duration(text).map_err(|e| format!("{e}; write it as 500ms, 30s or 5m"))?;
    if duration > LONGEST {
        return Err("it must be at most 30 days".to_owned());
    }
    Ok(duration)
}

fn positive(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration.is_zero() {
        return Err("it must be longer than zero".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Settings, String> {
        Settings::try_parse_from([&["cosi-sidecar"], args].concat()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_defaults_are_those_of_the_documentation() {
        let settings = parse(&[]).unwrap();
        assert_eq!(settings.lifecycle(), cosi_lifecycle::Settings::default());
        assert_eq!(settings.worker_threads, 64);
        assert_eq!(settings.secret_keys, SecretKeys::Cosi);
        assert_eq!(settings.driver_endpoint, PathBuf::from("/var/lib/cosi/cosi.sock"));
    }

    #[rstest::rstest]
    #[case(&["--timeout", "500ms"], Duration::from_millis(500))]
    #[case(&["--timeout", "5m"], Duration::from_mins(5))]
    fn durations_have_units(#[case] args: &[&str], #[case] expected: Duration) {
        assert_eq!(parse(args).unwrap().timeout, expected);
    }

    #[rstest::rstest]
    #[case(&["--timeout", "20"], "--timeout")]
    #[case(&["--timeout", "0s"], "longer than zero")]
    #[case(&["--timeout", "1year"], "at most 30 days")]
    #[case(&["--driver-endpoint", "/tmp/x.sock"], "begin with unix://")]
    #[case(&["--driver-endpoint", "unix://x.sock"], "absolute")]
    #[case(&["--driver-endpoint", "unix:///tmp/x"], "end with .sock")]
    #[case(&["--driver-name", "Not A Name"], "--driver-name")]
    #[case(&["--worker-threads", "0"], "--worker-threads")]
    #[case(&["--secret-keys", "azure"], "--secret-keys")]
    #[case(&["--log-format", "xml"], "--log-format")]
    #[case(&["--no-such-flag"], "--no-such-flag")]
    fn a_wrong_flag_says_what_is_wrong_and_where(#[case] args: &[&str], #[case] expected: &str) {
        let message = parse(args).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}
