//! What a person is told of accesses.

use std::sync::Arc;

use super::AccessView;
use crate::inflight::Owner;
use crate::note::{Kind, ObjectRef, Subject};

impl Subject for AccessView {
    fn about(&self) -> ObjectRef {
        ObjectRef {
            kind: Kind::BucketAccess,
            namespace: Some(Arc::clone(&self.place.namespace)),
            name: Arc::clone(&self.place.name),
            uid: Arc::clone(&self.uid),
        }
    }

    fn copy(&self) -> Option<ObjectRef> {
        None
    }
}

impl Owner for AccessView {
    const THING: &'static str = "account";

    fn recorded(&self) -> Option<&str> {
        self.account_id.as_deref()
    }
}
