//! The world of accesses: one name, its Secrets, the Buckets to be reached, a controller, users.

mod api;
mod calls;
mod cluster;
mod effects;
mod kind;
mod oracle;
mod seams;
mod user;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::testing;

pub(crate) use api::{Filled, Spec};
pub(crate) use cluster::{Reachable, Secret};
pub(crate) use user::Op;

pub(crate) type World = testing::World<Accesses>;
pub(crate) type Scenario = testing::Scenario<Op>;

/// The access's namespace and name.
pub(crate) const NAMESPACE: &str = "users";
pub(crate) const NAME: &str = "access";
/// The UID of an access that was gone before the sidecar came.
pub(crate) const UNSEEN: &str = "uid-0";
/// The Secrets that accesses name, and the Buckets behind.
pub(crate) const SECRETS: [&str; 2] = ["secret-a", "secret-b"];
pub(crate) const BUCKETS: [&str; 2] = ["bc-a", "bc-b"];

/// Accesses, and what only their world has.
#[allow(clippy::struct_excessive_bools, reason = "independent facts, which nobody passes around")]
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    pub(super) secrets: BTreeMap<Arc<str>, Secret>,
    /// Buckets that are not as they should be.
    buckets: BTreeMap<Arc<str>, Reachable>,
    secret_uids: u32,
    /// The namespace is being deleted: nothing can be made in it any more.
    terminating: bool,
    /// The accessed Buckets were fine when they were last read.
    shown: bool,
    /// Somebody touched a Secret: what was reserved or written need not be there any more.
    meddled: bool,
    /// A Secret could not be read or written in this pass.
    secret_failed: bool,
    /// The Secret that can't be written.
    jammed: Option<&'static str>,
    /// A process died, and with it what it knew of Secrets that may land late.
    died: bool,
    /// An access went away by force and the process died before it had cleaned up: its Secrets are a manual step.
    secrets_forgotten: bool,
}
