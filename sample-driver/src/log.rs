//! Log lines on stderr.

use tracing_subscriber::EnvFilter;

use crate::settings::{LogFormat, LogLevel, Settings};

/// Starts logging; a second call changes nothing.
pub fn start(settings: &Settings) {
    let level = match settings.log_level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    };
    // The S3 crates log whole requests with their headers, and every missing key as an error; the AWS SDK logs whole
    // answers, new keys in them. What is wrong on our side the S3 server and the driver say themselves.
    let filter = EnvFilter::new(format!("{level},aws=off,s3s=off,s3s_fs=off,h2=warn,hyper=warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    // Fails only if somebody else has set up logging, as a test may have.
    let _started = match settings.log_format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
}
