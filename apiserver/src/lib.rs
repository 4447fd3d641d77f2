//! A Kubernetes API server in miniature: the five COSI kinds, Secrets, Events, Leases and Namespaces, all in memory.

pub mod controllers;
pub mod discovery;
pub mod http;
pub mod openapi;
pub mod patch;
pub mod registry;
pub mod schema;
pub mod store;
pub mod table;
pub mod watch;
