//! The Kubernetes side: the client, watches, indexes, reads and writes of Buckets, BucketAccesses and Secrets, and Kubernetes
//! Events.

mod accesses;
mod buckets;
mod connect;
mod events;
mod failure;
mod index;
mod objects;
mod secrets;
mod shared;
mod watch;

pub use accesses::Accesses;
pub use buckets::Buckets;
pub use connect::{Clients, ConnectError, connect};
pub use events::Reporter;
pub(crate) use failure::says_gone;
pub use index::{Change, Index, Indexed, Key, is_newer};
pub use objects::{Label, Objects, Sight};
pub(crate) use objects::{creation, parameters};
pub use secrets::Secrets;
pub use watch::{Watch, watch};
