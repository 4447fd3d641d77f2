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
    source: Option<ParseError>,
}

/// Starts logging, once per process.
///
/// # Errors
///
/// [`LogLevelError`] if the level is not one.
pub fn init(settings: &Settings) -> Result<(), LogLevelError> {
    let wrong = |source| LogLevelError { level: settings.log_level.clone(), source };
    // The library takes any word for a module's name, and a module that does not exist says nothing.
    if !settings.log_level.split(',').all(is_directive) {
        return Err(wrong(None));
    }
    let filter = EnvFilter::try_new(directives(&settings.log_level)).map_err(|source| wrong(Some(source)))?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    match settings.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    Ok(())
}

/// A level, or a module and its level.
fn is_directive(text: &str) -> bool {
    let level = text.rsplit('=').next().unwrap_or(text);
    let known =
        ["off", "error", "warn", "info", "debug", "trace"].iter().any(|l| l.eq_ignore_ascii_case(level));
    let module = text.strip_suffix(level).unwrap_or_default().trim_end_matches('=');
    known && !module.contains('-')
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

#[cfg(test)]
mod tests {
    use super::is_directive;

    #[test]
    fn a_misspelt_level_or_module_is_refused_and_does_not_silence_the_log() {
        for good in ["info", "WARN", "cosi_sidecar=debug", "h2=off", "cosi_sidecar::work=trace"] {
            assert!(is_directive(good), "{good}");
        }
        for bad in ["wran", "", "cosi-sidecar=debug", "cosi_sidecar=loud", "h2="] {
            assert!(!is_directive(bad), "{bad}");
        }
    }
}
