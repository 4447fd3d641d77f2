//! The COSI sidecar: it runs beside a storage vendor's driver, watches Buckets and BucketAccesses, and calls the driver so
//! that each has its bucket or account at the backend – and none is left behind when it goes.
//!
//! All decisions are made in crate `cosi-lifecycle`; this crate is the shell around them:
//!
//! ```text
//! cluster::watch ─▶ cluster::Index ─▶ work::Queue ─▶ work::Workers ─▶ lifecycle step
//!                        ▲                                │ one effect at a time
//!                        └──────── own writes ◀───────────┴──▶ driver::Driver, cluster::{Buckets, Accesses, Secrets}
//! ```
//!
//! All of it begins when this process is elected leader, and acts only as long as [`lease::Tenure`] says so.
//!
//! This chain exists once for each kind, with its own index, queue and pool of workers.

pub mod cluster;
pub mod driver;
pub mod environment;
pub mod lease;
pub mod logging;
mod run;
pub mod settings;
pub mod work;

pub use run::{RunError, run, run_in, run_until};

/// The error and all its causes, as one sentence. Display of an error never repeats its source.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some libraries do repeat it.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
