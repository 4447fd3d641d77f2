//! Who owns which field: `metadata.managedFields`, and server-side apply, which goes by it.
//!
//! Every write is tracked ([`track`]): the fields that it sets become the writer's. A server-side apply ([`apply`]) says
//! all that its manager wants; what it said before and says no more is taken out, unless others own it, too, and what
//! others own is a conflict, unless it says the same or is forced.

mod apply;
mod compare;
mod element;
mod managers;
mod merge;
mod prune;
mod schema;
mod set;
mod track;
mod typed;

pub use apply::{Application, ApplyError, Conflict, apply};
pub use managers::Writer;
pub use track::track;

#[cfg(test)]
mod tests;
