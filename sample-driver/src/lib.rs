//! A COSI driver with two backends: an S3 server of its own, for trying COSI out, for tests, and as an example to learn
//! from; or any service that speaks S3 and has an IAM API.
//!
//! The S3 server of its own:
//! - [`store`] – buckets and accounts on disk, with a durable record of who asked for each
//! - [`backend`] – the S3 server over them, which lets each account do what it was granted
//! - [`driver`] – the COSI side: RPCs and their error codes
//!
//! The service elsewhere:
//! - [`s3`] – all of it
//!
//! Both:
//! - [`settings`], [`log`], [`run`] – the process around them

pub mod backend;
pub mod chain;
pub mod driver;
pub mod log;
pub mod run;
pub mod s3;
pub mod settings;
pub mod store;
