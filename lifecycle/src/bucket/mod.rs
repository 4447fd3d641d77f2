//! The life of one Bucket: from the first look at the object to the last trace at the backend.
//!
//! Expected flow of a dynamic Bucket: `WriteFinalizers` (the durable intent) → `Call(Create)` → `WriteStatus(Ready)` →
//! `Done`; later `Read` → `Call(Delete)` → `WriteFinalizers` → `Done`.
//!
//! After every event the machine decides anew from what it knows (`decide`); what it knows is the object as last read
//! and the [`BucketState`]. So a crash, a lost answer or a change in between is not a special case: it is another
//! starting point for the same decision.

mod answer;
mod decide;
mod effect;
mod events;
mod note;
mod state;
mod undo;
mod view;
mod will;

pub use effect::{BucketAnswer, Call, CallOk, Claim, Effect, Event, Request, StatusWrite};
pub use note::slipped;
pub use state::BucketState;
pub use view::{BucketView, ClaimRef};

#[cfg(test)]
mod tests;
