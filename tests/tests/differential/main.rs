//! The embedded API server against the real kube-apiserver: the same calls to both, and the answers must be the same.
//!
//! `generate` makes sequences of calls, `side` sends them to one server and puts names of its own in place of what no two
//! servers share (uids, resourceVersions, times), `compare` finds what is left, `run` puts it together and tells a person.
//! How to run more calls, or to see all differences at once, stands in docs/design/apiserver-differences.md.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod call;
mod compare;
mod controllers;
mod discovery;
mod generate;
mod kinds;
mod run;
mod side;
mod survey;
mod tests;
