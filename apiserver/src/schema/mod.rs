//! What the API server knows of each kind: names, schema, defaults, rules.
//!
//! COSI's kinds are read from the very definitions that are installed in a cluster (`deploy/crds`), so that the two
//! can't differ. A word in them that isn't understood here is an error: to overlook it would be to accept what a real
//! API server refuses.

mod catalogue;
mod cause;
mod formats;
mod kind;
pub(crate) mod node;
pub mod print;
mod prune;
mod rules;
mod typed;
mod validate;

pub use catalogue::{Catalogue, CatalogueError};
pub use cause::{Cause, CauseReason};
pub use kind::{Column, Kind, Read};
pub use node::NodeError;
pub use typed::{ReadError, WireError};
pub use validate::Part;

#[cfg(test)]
mod tests;
