//! What a COSI driver author needs: one trait, a server, guards that keep calls for one name apart.
//!
//! A driver makes buckets and accounts at a backend when a sidecar asks it to, over a UNIX socket. This crate speaks
//! the protocol; a driver says what its backend does. This page goes from nothing to a driver; the repository's
//! `docs/driver-authors.md` has a whole one to copy, and `docs/spec` all requirements with their reasons.
//!
//! # A driver
//! Three methods are enough to begin with: who the driver is, making a bucket, deleting one.
//!
//! ```no_run
//! use cosi_driver_sdk::prelude::*;
//!
//! struct Mine;
//!
//! #[async_trait]
//! impl Driver for Mine {
//!     fn info(&self) -> DriverInfo {
//!         DriverInfo::new("mine.example.com", [Protocol::S3]).expect("a good name")
//!     }
//!
//!     async fn create_bucket(&self, _: &CallContext, asked: CreateBucketRequest) -> Result<Bucket, DriverError> {
//!         asked.parameters.only(&["tier"])?;
//!         // … make the bucket, or find the one that an earlier call made …
//!         let info = S3BucketInfo {
//!             bucket_id: asked.name.to_string(),
//!             endpoint: "https://s3.example.com".into(),
//!             region: "here".into(),
//!             addressing_style: AddressingStyle::Path,
//!         };
//!         Ok(Bucket { id: BucketId::new(asked.name)?, info: info.into() })
//!     }
//!
//!     async fn delete_bucket(&self, _: &CallContext, asked: DeleteBucketRequest) -> Result<(), DriverError> {
//!         // … delete it; gone already is fine …
//!         Ok(())
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     Server::new(Mine).serve(&Endpoint::from_env()?).await?;
//!     Ok(())
//! }
//! ```
//!
//! The other methods of [`Driver`] answer UNIMPLEMENTED until you write them. A driver works with types that can't hold
//! an invalid name, id or protocol.
//!
//! # Asked again
//! Answers get lost, so every call may come again, at any time (COSI-GEN-3). Look first, make what is missing, and
//! answer what is there. Keep nothing in memory that the next call needs. A look-up that failed is an error and never
//! "not there" (COSI-GEN-7).
//!
//! # Whose is it?
//! What is there under a name may be yours, of the same request; yours, of another one; or somebody else's. Mark what
//! you make, together with making it, and compare the mark in the create *and* in the undo:
//!
//! ```
//! # use cosi_driver_sdk::prelude::*;
//! # struct Found { tags: Vec<(String, String)> }
//! # struct Backend;
//! # impl Backend {
//! #     async fn look(&self, name: &str) -> Result<Option<Found>, DriverError> { Ok(None) }
//! #     async fn make(&self, name: &str, tags: [(&str, String); 3]) -> Result<(), DriverError> { Ok(()) }
//! #     async fn delete(&self, name: &str) -> Result<(), DriverError> { Ok(()) }
//! # }
//! fn mark_of(found: &Found) -> Option<OwnerMark> {
//!     OwnerMark::from_tags(found.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())))
//! }
//!
//! async fn create(backend: &Backend, info: &DriverInfo, asked: &CreateBucketRequest) -> Result<(), DriverError> {
//!     let mark = OwnerMark::new(info, &asked.name, asked);
//!     match backend.look(asked.name.as_str()).await? {
//!         None => backend.make(asked.name.as_str(), mark.to_tags()).await,
//!         Some(found) => mark.compare(mark_of(&found).as_ref()).or_already_exists(&asked.name),
//!     }
//! }
//!
//! async fn undo(backend: &Backend, info: &DriverInfo, asked: &DeleteBucketByNameRequest) -> Result<(), DriverError> {
//!     let mark = OwnerMark::new(info, &asked.name, asked);
//!     match backend.look(asked.name.as_str()).await? {
//!         Some(found) if mark.compare(mark_of(&found).as_ref()).is_same() => backend.delete(asked.name.as_str()).await,
//!         _ => Ok(()),
//!     }
//! }
//! ```
//!
//! # If the backend chooses the ids
//! Then a crash between making and answering would leave a bucket that nobody finds again. A [`NameLedger`] writes down
//! what is about to be made, and the id before it is answered; an `impl` of [`Chosen`] says what the backend can do,
//! and three methods are the driver:
//!
//! ```
//! # use cosi_driver_sdk::prelude::*;
//! # use cosi_driver_sdk::{Chosen, NameLedger};
//! # async fn calls(ledger: NameLedger, backend: impl Chosen<BucketId>,
//! #     create: CreateBucketRequest, undo: DeleteBucketByNameRequest, delete: DeleteBucketRequest) -> Result<(), DriverError> {
//! let id = ledger.buckets().make(&create.name, &create, &backend).await?; // create_bucket
//! ledger.buckets().unmake(&undo.name, &undo, &backend).await?; // delete_bucket_by_name
//! ledger.buckets().delete(&delete.bucket_id, &backend).await?; // delete_bucket
//! # Ok(())
//! # }
//! ```
//!
//! `examples/opaque_ids.rs` is a whole driver like this. One that marks in a second call uses the single steps of
//! [`Names`] instead.
//!
//! # Accounts and their keys
//! A repeated grant answers the same account and keys that work, and leaves no others alive. Where a secret is shown
//! only once, when it is made, [`one_live_key`] sees to that, wherever an earlier grant was cut off.
//!
//! # One call at a time
//! At most one call per name or id runs at a time ([`Driver`] says what that covers); another one is answered ABORTED.
//! A call counts as running until the driver's method has returned, even if its caller gave up long ago: the method is
//! never cut off half-way. [`CallContext`] tells it how long its caller waits, and when nobody does any more:
//!
//! ```
//! # use cosi_driver_sdk::prelude::*;
//! # async fn next_page() -> Result<bool, DriverError> { Ok(false) }
//! async fn walk(context: &CallContext) -> Result<(), DriverError> {
//!     while next_page().await? {
//!         // Between two steps it is safe to stop; the next call goes on from here.
//!         if context.is_abandoned() {
//!             return Err(DriverError::deadline_exceeded("the backend is slow; deleting goes on with the next call"));
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A call that arrives after its `cosi-not-after-ns` is refused before the driver sees it (R15).
//!
//! # Saying no
//! The kind of a [`DriverError`] decides what the sidecar does next, and several kinds promise that nothing was done.
//! One total function from the backend's errors to kinds, with a test, is the best place for it:
//!
//! ```
//! # use cosi_driver_sdk::prelude::*;
//! # enum BackendError { NotEmpty, QuotaExceeded, AccessDenied, Timeout, Other(u16) }
//! fn kind_of(error: &BackendError, bucket: &BucketId) -> DriverError {
//!     match error {
//!         BackendError::NotEmpty => DriverError::failed_precondition(format!("{bucket} is not empty; delete its objects first")),
//!         BackendError::QuotaExceeded => DriverError::resource_exhausted("the quota of buckets is used up; ask for more"),
//!         BackendError::AccessDenied => DriverError::permission_denied("the driver's own key may not do this"),
//!         BackendError::Timeout => DriverError::unavailable("the backend did not answer in time"),
//!         BackendError::Other(status) => DriverError::internal(format!("the backend answered {status}")),
//!     }
//! }
//! ```
//!
//! # Seeing what happens
//! Each call is traced: what, for which name, how it ended, how long it took; the driver's own log lines bear RPC and
//! name, too, from the span around the call. Credentials and values of parameters are never printed (I7): the types
//! that hold them can't be. For metrics, audit, or rules on who may call, add an [`Interceptor`]:
//!
//! ```
//! # use cosi_driver_sdk::prelude::*;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use cosi_driver_sdk::{CallEnd, CallInfo, Interceptor};
//!
//! #[derive(Default)]
//! struct Failures(AtomicU64);
//!
//! impl Interceptor for Failures {
//!     fn after(&self, _: &CallInfo, end: &CallEnd<'_>) {
//!         if end.error.is_some() {
//!             self.0.fetch_add(1, Ordering::Relaxed);
//!         }
//!     }
//! }
//!
//! # fn serve(driver: impl Driver) {
//! let server = Server::new(driver).interceptor(Failures::default());
//! # }
//! ```
//!
//! # The process
//! [`Server::serve`] replaces a stale socket file and leaves a socket in use alone (C40). It serves the two services of
//! COSI, `grpc.health.v1.Health` and server reflection in both versions, so that plain grpcurl lists and calls
//! everything. A panic in a method fails that one call (C46). SIGTERM and SIGINT stop it: health says NOT_SERVING, no
//! call begins, and those that run may end, within [`Server::drain_timeout`]:
//!
//! ```no_run
//! # use cosi_driver_sdk::prelude::*;
//! # async fn run(driver: impl Driver) -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! let bound = Server::new(driver).drain_timeout(Duration::from_secs(10)).socket_mode(0o600).bind(&Endpoint::from_env()?).await?;
//! bound.run_until(async { /* your own reason to stop */ }).await?;
//! # Ok(())
//! # }
//! ```

mod context;
mod driver;
mod error;
mod guard;
mod intercept;
mod ledger;
mod model;
mod one_key;
mod ownership;
pub mod prelude;
mod server;
mod wire;

pub use async_trait::async_trait;
pub use context::CallContext;
pub use driver::Driver;
pub use error::{DriverError, ErrorKind};
pub use intercept::{CallEnd, CallInfo, Interceptor, Peer};
pub use ledger::{Chosen, Entry, LedgerError, NameLedger, Names, OpenLedgerError, Token};
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
pub use ownership::fingerprint::Fingerprint;
pub use ownership::mark::{OwnerMark, Ownership};
pub use server::endpoint::{Endpoint, EndpointError};
pub use server::socket::BindError;
pub use server::{BoundServer, ServeError, Server};

/// The guide's code is compiled as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../../docs/driver-authors.md")]
struct Guide;
