//! Everything that COSI needs, in one process: an API server in memory, COSI's controller in miniature, the sidecar and the
//! sample driver with its S3 server. For trying things out and for soak tests; nothing in it is for production.

mod controller;
mod folder;
mod guide;
mod run;
pub mod settings;

pub use run::{SandboxError, run};
