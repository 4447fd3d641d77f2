//! A COSI driver with an embedded S3 server: for trying COSI out, for tests, and as an example to learn from.
//!
//! - [`store`] – buckets and accounts on disk, with a durable record of who asked for each
//! - [`backend`] – the S3 server over them, which lets each account do what it was granted
//! - [`driver`] – the COSI side: RPCs and their error codes
//! - [`settings`], [`log`], [`run`] – the process around them

pub mod backend;
pub mod chain;
pub mod driver;
pub mod log;
pub mod run;
pub mod settings;
pub mod store;
