//! Which calls a rule or a count is about.

use std::fmt;

use super::call::{Call, Rpc};
use crate::rule::Window;

/// Which calls a rule is about: by RPC and by name or id, and the how-manieth.
///
/// Without [`nth`](On::nth), [`first`](On::first) or [`from_nth`](On::from_nth) a rule acts on every match.
#[derive(Clone, Debug, Default)]
pub struct On {
    rpc: Option<Rpc>,
    key: Option<String>,
    window: Window,
}

impl On {
    /// Every call, `DriverGetInfo` included.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Calls of this RPC.
    #[must_use]
    pub fn rpc(rpc: Rpc) -> Self {
        Self { rpc: Some(rpc), ..Self::default() }
    }

    /// `DriverGetInfo`.
    #[must_use]
    pub fn get_info() -> Self {
        Self::rpc(Rpc::GetInfo)
    }

    /// `DriverCreateBucket`.
    #[must_use]
    pub fn create() -> Self {
        Self::rpc(Rpc::Create)
    }

    /// `DriverGetExistingBucket`.
    #[must_use]
    pub fn get_existing() -> Self {
        Self::rpc(Rpc::GetExisting)
    }

    /// `DriverDeleteBucket`.
    #[must_use]
    pub fn delete() -> Self {
        Self::rpc(Rpc::Delete)
    }

    /// `DriverDeleteBucketByName`.
    #[must_use]
    pub fn delete_by_name() -> Self {
        Self::rpc(Rpc::DeleteByName)
    }

    /// `DriverGrantBucketAccess`.
    #[must_use]
    pub fn grant() -> Self {
        Self::rpc(Rpc::Grant)
    }

    /// `DriverRevokeBucketAccess`.
    #[must_use]
    pub fn revoke() -> Self {
        Self::rpc(Rpc::Revoke)
    }

    /// `DriverRevokeBucketAccessByName`.
    #[must_use]
    pub fn revoke_by_name() -> Self {
        Self::rpc(Rpc::RevokeByName)
    }

    /// Only calls for this name (also if they go by an id made for it) or this id.
    #[must_use]
    pub fn named(mut self, name_or_id: &str) -> Self {
        self.key = Some(name_or_id.to_owned());
        self
    }

    /// Only the n-th match, counted from 1 since the rule was made.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.window = Window::nth(n);
        self
    }

    /// Only the first n matches since the rule was made.
    #[must_use]
    pub fn first(mut self, n: u64) -> Self {
        self.window = Window::first(n);
        self
    }

    /// From the n-th match on, counted from 1 since the rule was made.
    #[must_use]
    pub fn from_nth(mut self, n: u64) -> Self {
        self.window = Window::from(n);
        self
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// Whether the call is one of these.
    #[must_use]
    pub fn matches(&self, call: &Call) -> bool {
        self.rpc.is_none_or(|rpc| rpc == call.rpc)
            && self.key.as_deref().is_none_or(|key| key == call.name || key == call.id)
    }
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rpc {
            None => f.write_str("any call")?,
            Some(rpc) => write!(f, "{rpc:?}")?,
        }
        self.key.as_deref().map_or(Ok(()), |key| write!(f, " {key}"))
    }
}
