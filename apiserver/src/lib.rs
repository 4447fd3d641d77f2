//! A Kubernetes API server in miniature: the five COSI kinds, Secrets, Events, Leases and Namespaces, all in memory.
//!
//! [`ApiServer`] is a tower service: [`kube::Client`] takes it as it is, without a socket, and [`serve`] puts it on
//! loopback for kubectl and for other processes.
//!
//! [`kube::Client`]: https://docs.rs/kube/latest/kube/struct.Client.html

mod clock;
pub mod controllers;
pub mod discovery;
mod http;
pub mod openapi;
pub mod patch;
mod registry;
pub mod schema;
mod serve;
mod service;
mod status;
pub mod store;
pub mod table;
mod watch;

pub use clock::{Clock, SystemClock};
pub use http::AnswerBody;
pub use serve::{ServeError, Server, serve};
pub use service::{ApiServer, Settings};
pub use status::Refusal;
