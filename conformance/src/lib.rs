//! Tests any COSI driver over its socket: what it must do so that no bucket and no account is ever orphaned.
//!
//! `cosi-conformance --endpoint unix:///…/cosi.sock` does it from the command line. From a test of a driver's own:
//!
//! ```no_run
//! # async fn test() -> Result<(), Box<dyn std::error::Error>> {
//! use cosi_conformance::{Settings, run};
//!
//! let settings = Settings::new("unix:///var/lib/cosi/cosi.sock".parse()?);
//! let report = run(settings, std::future::pending(), |_| {}).await?;
//! assert!(report.is_good(), "{}", cosi_conformance::report::text(&report));
//! # Ok(()) }
//! ```
//!
//! # Guarantees
//! - Whatever a check makes is written down before it is asked for, and taken away when the check is over, however it ended.
//!   What can't be taken away is named in the report.
//! - Nothing that a driver does ends the run: errors, silence, broken connections and answers without sense are
//!   findings. So are faults of a check itself.
//! - No credential that a driver hands out, and no value of a parameter that was given, is in a report (I7). Parameters
//!   shorter than eight characters are taken for words, not secrets.
//!
//! # Assumptions
//! Nobody else makes things at the backend by the names that begin with the prefix of the settings. The requirements are those
//! of the driver specification, `docs/spec`.
//!
//! # Where things are
//! `checks` holds what is tried, one file for each subject; `bench` what a check works with: requests, what was
//! made, how it can be seen; `driver` and `s3` are the two clients; `report` is what comes out.

mod bench;
mod checks;
pub mod cli;
mod driver;
mod list;
mod probe;
mod reflection;
pub mod report;
mod run;
mod s3;
pub mod settings;

pub use checks::{Check, GROUPS, Group, Severity, all};
pub use list::list;
pub use probe::{Fact, Probe, probe};
pub use report::Report;
pub use run::{RunError, run};
pub use settings::Settings;
