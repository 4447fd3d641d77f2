//! Flags.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;

/// A Kubernetes API server in memory with COSI's controller, the sidecar and the sample driver, all in this process, to try
/// COSI without a cluster. Everything is gone when it ends.
#[derive(Clone, Debug, Parser)]
#[command(name = "cosi-sandbox", version, about, long_about = None)]
pub struct Settings {
    /// New or empty folder for kubeconfig, socket, buckets and log [default: a temporary one, removed at the end]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,

    /// Loopback address of the API server; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub listen: SocketAddr,

    /// Loopback address of the driver's S3 server; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub s3_listen: SocketAddr,

    /// Do not play COSI's controller: BucketClaims and BucketAccesses are left to you
    #[arg(long)]
    pub no_controller: bool,

    /// Least severe lines of the log file: error, warn, info, debug or trace
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub log_level: LevelFilter,
}
