//! The leader's Lease: one process of a driver acts, others stand by (R15). The decisions are those of
//! [`cosi_lifecycle::lease`]; here they meet the API server and the clock.
//!
//! What everything else in this crate needs to know of it is the [`Tenure`]: until when this process may act. It is asked at
//! the last moment before each driver call and – by [`guard`] – each write to the API server.

mod elector;
mod guard;
mod identity;
mod news;
mod store;
mod tenure;

pub use elector::Elector;
pub use guard::{LeaseLost, guard};
pub use store::Place;
pub use tenure::Tenure;
