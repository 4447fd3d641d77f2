//! What the API server holds.

use super::Uid;

/// The Bucket or BucketAccess.
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    pub(crate) uid: Uid,
    /// Our finalizer is on it.
    pub(crate) ours: bool,
    /// Somebody else's finalizer is on it.
    pub(crate) foreign: bool,
    pub(crate) deleting: bool,
    /// Its policy is Retain.
    pub(crate) retain: bool,
    /// The id in its status.
    pub(crate) id: Option<u8>,
    pub(crate) ready: bool,
}

impl Object {
    pub(crate) fn new(uid: Uid) -> Self {
        Self { uid, ours: false, foreign: false, deleting: false, retain: false, id: None, ready: false }
    }
}

/// The Secret of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Secret {
    #[default]
    None,
    /// Reserved.
    Empty,
    /// It holds this key.
    Key(u8),
}

/// What a sidecar saw when it looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct View {
    pub(crate) object: Option<Object>,
    pub(crate) secret: Secret,
    /// Somebody wrote since. This stands for the resourceVersion.
    pub(crate) stale: bool,
}
