//! The command line and its environment variables.

use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory as _, Parser, ValueEnum};
use cosi_api::value::DriverName;
use cosi_lifecycle::lease::{InvalidTerms, Terms};
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

    /// Act only while holding the leader's Lease, so that several sidecars of one driver can run
    #[arg(long, env = "SIDECAR_LEADER_ELECTION", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1,
          require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub leader_election: bool,

    /// Namespace of the leader's Lease; without it, POD_NAMESPACE, the service account's or the kubeconfig's namespace
    #[arg(long, env = "SIDECAR_LEADER_ELECTION_NAMESPACE", value_parser = namespace, value_name = "NAMESPACE")]
    pub leader_election_namespace: Option<String>,

    /// How long the others wait after the leader's last sign of life; whole seconds
    #[arg(long, env = "SIDECAR_LEADER_ELECTION_LEASE_DURATION", default_value = "15s", value_parser = positive, value_name = "DURATION")]
    pub leader_election_lease_duration: Duration,

    /// How long the leader acts without a successful renewal
    #[arg(long, env = "SIDECAR_LEADER_ELECTION_RENEW_DEADLINE", default_value = "10s", value_parser = positive, value_name = "DURATION")]
    pub leader_election_renew_deadline: Duration,

    /// How often the leader renews its Lease
    #[arg(long, env = "SIDECAR_LEADER_ELECTION_RETRY_PERIOD", default_value = "5s", value_parser = positive, value_name = "DURATION")]
    pub leader_election_retry_period: Duration,

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

impl Settings {
    /// The durations of the leader election.
    ///
    /// # Errors
    ///
    /// They do not fit together.
    pub fn terms(&self) -> Result<Terms, InvalidTerms> {
        Terms::new(
            self.leader_election_lease_duration,
            self.leader_election_renew_deadline,
            self.leader_election_retry_period,
        )
    }

    /// The command line, checked as a whole. A mistake in it ends the process with exit code 2, as clap does for those in a
    /// single flag.
    #[must_use]
    pub fn from_command_line() -> Self {
        let settings = Self::parse();
        if let Err(error) = settings.terms() {
            Self::command().error(clap::error::ErrorKind::ValueValidation, error).exit();
        }
        settings
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

/// A namespace's name, or nothing.
fn namespace(text: &str) -> Result<String, String> {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let fits = text.len() <= 63 && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-');
    if fits { Ok(text.to_owned()) } else { Err("no namespace can have that name".to_owned()) }
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
        assert!(settings.leader_election);
        assert_eq!(settings.terms().map(|t| t.duration()), Ok(Duration::from_secs(15)));
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
    #[case(&["--leader-election=false"], false)]
    #[case(&["--leader-election=true"], true)]
    #[case(&["--leader-election"], true)]
    fn leader_election_can_be_switched_off(#[case] args: &[&str], #[case] expected: bool) {
        assert_eq!(parse(args).unwrap().leader_election, expected);
    }

    #[rstest::rstest]
    #[case("500ms", "300ms", "100ms", InvalidTerms::Duration)]
    #[case("1500ms", "1s", "100ms", InvalidTerms::Duration)]
    #[case("2s", "2s", "100ms", InvalidTerms::Deadline)]
    #[case("2s", "1200ms", "1s", InvalidTerms::Retry)]
    #[case("2s", "1s", "99ms", InvalidTerms::Retry)]
    fn durations_of_the_election_must_fit_together(
        #[case] lease: &str,
        #[case] deadline: &str,
        #[case] retry: &str,
        #[case] expected: InvalidTerms,
    ) {
        let flags =
            ["lease-duration", "renew-deadline", "retry-period"].map(|f| format!("--leader-election-{f}"));
        let args = [&flags[0], lease, &flags[1], deadline, &flags[2], retry];
        assert_eq!(parse(&args.map(|a: &str| a)).unwrap().terms(), Err(expected));
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
    #[case(&["--leader-election-namespace", "../default"], "no namespace can have that name")]
    #[case(&["--log-format", "xml"], "--log-format")]
    #[case(&["--no-such-flag"], "--no-such-flag")]
    fn a_wrong_flag_says_what_is_wrong_and_where(#[case] args: &[&str], #[case] expected: &str) {
        let message = parse(args).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}
