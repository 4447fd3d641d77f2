//! A backend elsewhere: any service that speaks S3 and has an IAM API.
//!
//! - `seam` – what the driver needs of it
//! - `driver` – the COSI side: RPCs as a few of those calls each
//! - `owned` – whose a bucket or user is, and making it once
//! - `account`, `policy` – one user, one live key, and what it may do
//! - `service` – the calls themselves, by the AWS SDK
//! - `failure` – which gRPC code a failed call becomes

mod account;
mod driver;
mod failure;
mod owned;
mod policy;
mod request;
mod seam;
mod service;
#[cfg(test)]
mod tests;

pub use driver::S3Driver;
pub use seam::{Made, Tagged, Tags, Users};
pub use service::{Place, Service};
pub use service::{buckets::ServiceBuckets, users::ServiceUsers};
