//! What a COSI driver author needs: one trait, a server, guards that keep calls for one name apart.
//!
//! Implement [`Driver`], then
//!
//! ```no_run
//! # async fn run(driver: impl cosi_driver_sdk::Driver) -> Result<(), Box<dyn std::error::Error>> {
//! use cosi_driver_sdk::{Endpoint, Server};
//! Server::new(driver).serve(&Endpoint::from_env()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What the server does for a driver
//! - Every request is checked against the protocol's limits before the driver sees it, and every answer before it is
//!   sent. A driver works with types that can't hold an invalid name, id or protocol.
//! - At most one call per name or id runs at a time ([`Driver`] says what that covers); another one is answered
//!   ABORTED. A call counts as running until the driver's method has returned, even if its caller gave up long ago.
//! - A call that arrives too late (`cosi-not-after-ns`, R15) is refused.
//! - A panic in a method fails that one call; the server lives on (C46).
//! - A stale socket file is replaced, a socket in use is not (C40); SIGTERM and SIGINT drain.
//! - Each call is traced: what, for which name, how it ended, how long it took. Credentials and the values of
//!   parameters are never printed (I7); the types that hold them can't be.
//!
//! # What else is here
//! [`one_live_key`] makes repeated grants leave one account with one key, at backends that show a key's secret only once.

mod context;
mod driver;
mod error;
mod guard;
mod model;
mod one_key;
mod server;
mod wire;

pub use async_trait::async_trait;
pub use context::CallContext;
pub use driver::Driver;
pub use error::{DriverError, ErrorKind};
pub use model::access::{AccessMode, AccessedBucket, Authentication};
pub use model::answers::{Bucket, GrantedAccess};
pub use model::credentials::{AzureCredentials, Credentials, GcsCredentials, S3Credentials, Secret};
pub use model::ids::{AccountId, AccountName, BucketId, BucketName};
pub use model::info::{
    AddressingStyle, AzureBucketInfo, BucketInfo, DriverInfo, GcsBucketInfo, S3BucketInfo,
};
pub use model::parameters::Parameters;
pub use model::protocol::Protocol;
pub use model::requests::{
    CreateBucketRequest, DeleteBucketByNameRequest, DeleteBucketRequest, GetExistingBucketRequest,
    GrantAccessRequest, RevokeAccessByNameRequest, RevokeAccessRequest,
};
pub use model::value::{InvalidValue, Problem};
pub use one_key::{AccountKey, KeyedAccount, one_live_key};
pub use server::endpoint::{Endpoint, EndpointError};
pub use server::socket::BindError;
pub use server::{BoundServer, ServeError, Server};
