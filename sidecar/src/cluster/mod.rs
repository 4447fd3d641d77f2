//! The Kubernetes side: the client, the watch, the index, reads and writes of Buckets, and Kubernetes Events.

mod buckets;
mod connect;
mod events;
mod failure;
mod index;
mod shared;
mod watch;

pub use buckets::{Buckets, Sight};
pub use connect::{ConnectError, connect};
pub use events::Reporter;
pub use index::{Index, is_newer};
pub use watch::{Watch, watch};
