//! The invariants (lifecycle.md §3), against the backend's own ledger and the API server's own objects, never against the
//! sidecar's word.

mod facts;
mod judge;
mod left;
mod watch;

use std::fmt;

use serde_json::Value;

pub(crate) use facts::Facts;

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// I1: nothing at the backend is left without an owner.
    NoOrphan,
    /// I2: one bucket or account at a time, and none is made again after its deletion.
    NoDouble,
    /// I3: nothing is deleted unless its owner wanted it.
    NoLoss,
    /// I4: nothing foreign is touched.
    NothingForeign,
    /// I5: Ready is true.
    Truth,
    /// I6: the desired state is reached in time, and stays.
    Progress,
    /// I7: no credential gets out.
    Secrecy,
    /// I8: one call at a time per name.
    OneAtATime,
    /// I9: no more requests than needed.
    Thrift,
    /// R3: nothing is sent while a call without certain outcome may be at work.
    Grace,
    /// R15: who does not hold the Lease writes nothing.
    Lease,
    /// The sidecar never finds itself wrong, and never panics.
    Sound,
}

/// An invariant that was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{invariant} is broken: {what}")]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// How.
    pub what: String,
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoOrphan => "I1 (no orphan)",
            Self::NoDouble => "I2 (no double)",
            Self::NoLoss => "I3 (no loss)",
            Self::NothingForeign => "I4 (nothing foreign)",
            Self::Truth => "I5 (truth)",
            Self::Progress => "I6 (progress)",
            Self::Secrecy => "I7 (secrecy)",
            Self::OneAtATime => "I8 (one at a time)",
            Self::Thrift => "I9 (thrift)",
            Self::Grace => "R3 (grace)",
            Self::Lease => "R15 (lease)",
            Self::Sound => "soundness",
        })
    }
}

pub(crate) fn is_ready(object: &Value) -> bool {
    object.pointer("/status/readyToUse").is_some_and(|ready| ready == true)
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

pub(crate) fn finalizers(object: &Value) -> Vec<String> {
    let all = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether that finalizer is on it.
pub(crate) fn bears(object: &Value, finalizer: &str) -> bool {
    finalizers(object).iter().any(|there| there == finalizer)
}

/// Whether that annotation is on it, whatever it says.
pub(crate) fn is_marked(object: &Value, annotation: &str) -> bool {
    object.pointer("/metadata/annotations").is_some_and(|all| all.get(annotation).is_some())
}

/// All of its finalizers but that one.
pub(crate) fn finalizers_but(object: &Value, finalizer: &str) -> Vec<String> {
    let mut others = finalizers(object);
    others.retain(|other| other != finalizer);
    others
}

pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
