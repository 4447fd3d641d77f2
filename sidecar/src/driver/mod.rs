//! The driver's side: one connection to its socket at a time, and calls with a deadline.

mod call;
mod connection;
mod identity;
mod translate;

pub use call::{Call, Limits};
pub use connection::{Driver, DriverError, Ended, follow};
pub use identity::{Identity, IdentityError};
