//! What kind of driver is played.

use super::info::Protocol;

/// How the backend chooses ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Prefix + name: the same for ever.
    Derived(String),
    /// A new one for each making. The name is kept as a tag with the bucket and looked up when the bucket is made.
    Opaque,
    /// As `Opaque`, but the tag is looked up when the call arrives: two overlapping Creates make two buckets.
    OpaqueRacy,
}

/// What happens to a call for a name for which another one is running in the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Busy {
    /// It waits for its turn.
    Wait,
    /// ABORTED.
    Abort,
    /// Both run at once: this driver doesn't serialise.
    Overlap,
}

/// What a repeated Grant does about keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The same key again.
    Same,
    /// A new key; the old one stops working.
    Rotating,
    /// A new key; the old ones go on working.
    Piling,
}

/// What kind of driver is played. The default is a good one that derives ids and knows the by-name RPCs.
#[allow(clippy::struct_excessive_bools, reason = "independent abilities")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The answer to `DriverGetInfo`.
    pub name: String,
    /// Likewise.
    pub protocols: Vec<Protocol>,
    /// Whether the two by-name RPCs are there; else UNIMPLEMENTED.
    pub by_name: bool,
    /// How ids are chosen.
    pub ids: Ids,
    /// What happens to overlapping calls for one name.
    pub busy: Busy,
    /// What a repeated Grant does.
    pub keys: Keys,
    /// Whether a delete or revoke of what isn't there answers `NOT_FOUND` instead of OK.
    pub not_found_when_absent: bool,
    /// Whether a call that comes after its `cosi-not-after-ns` is refused, as the driver SDK does it; other drivers don't know
    /// that key.
    pub honours_not_after: bool,
    /// Whether its delete-by-name removes what its Create refuses as another's.
    pub takes_foreign: bool,
    /// Whether one access may span several buckets; else `OUT_OF_RANGE`.
    pub multi_bucket: bool,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            name: "scripted.sim".to_owned(),
            protocols: vec![Protocol::S3],
            by_name: true,
            ids: Ids::Derived(String::new()),
            busy: Busy::Wait,
            keys: Keys::Same,
            not_found_when_absent: false,
            honours_not_after: false,
            takes_foreign: false,
            multi_bucket: true,
        }
    }
}
