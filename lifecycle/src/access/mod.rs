//! The life of one BucketAccess: from the hand-over by the controller to the last trace at the backend.
//!
//! Expected flow: `ReadBuckets` → `CreateSecret` for each claim → `Read` → `Call(Grant)` → `WriteSecret` for each claim →
//! `WriteStatus(Ready)` → `Wait`; later `WriteStatus(NotReady)` → `ReadSecret`, `ReleaseSecret`, `DeleteSecret` for each →
//! `Call(Revoke)` → `WriteCleanupFinished` → `Done`.
//!
//! The machine has the form of [`crate::bucket`]'s: after every event it decides anew from what it knows. The durable
//! intent is the finalizer on the access together with the complete hand-over; the idempotency key is the access's UID, so
//! an access that is made again under the same name has nothing to do with the older one.

mod answer;
mod decide;
mod effect;
mod events;
mod handover;
mod note;
mod required;
mod secret;
mod secrets;
mod state;
mod undo;
mod view;
mod will;

pub use effect::{Call, CallOk, Effect, Event, GrantedBucket, Reach, Request, StatusWrite, Version};
pub use secret::SecretData;
pub use state::AccessState;
pub use view::{AccessView, Accessed, Owner, Place, SecretView, Wish};

#[cfg(test)]
mod tests;
