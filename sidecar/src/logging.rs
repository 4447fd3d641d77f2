//! The log: on standard error, text or JSON.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::settings::{LogFormat, Settings};

/// `--log-level` cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error(
    "--log-level {level:?} is neither error, warn, info, debug, trace nor a list like info,cosi_sidecar=debug"
)]
pub struct LogLevelError {
    level: String,
    source: ParseError,
}

/// Starts logging, once per process.
///
/// # Errors
///
/// [`LogLevelError`] if the level is not one.
pub fn init(settings: &Settings) -> Result<(), LogLevelError> {
    let filter = EnvFilter::try_new(directives(&settings.log_level))
        .map_err(|source| LogLevelError { level: settings.log_level.clone(), source })?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    match settings.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    Ok(())
}

/// What a plain level means: our own lines from that level on, and of libraries' only what is wrong. Whoever wants to see
/// theirs, writes a list. The Kubernetes client calls each answer an error that we repeat or report ourselves (C10, C23).
fn directives(level: &str) -> String {
    match level {
        "warn" | "info" | "debug" | "trace" => {
            format!("warn,kube_client::client::builder=off,kube_runtime=error,cosi_sidecar={level}")
        }
        other => other.to_owned(),
    }
}
