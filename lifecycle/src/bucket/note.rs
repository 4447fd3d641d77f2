//! What a person is told of Buckets.

use std::sync::Arc;

use super::BucketView;
use crate::inflight::Owner;
use crate::note::{Kind, Note, NoteReason, ObjectRef, Subject};

impl Subject for BucketView {
    fn about(&self) -> ObjectRef {
        ObjectRef {
            kind: Kind::Bucket,
            namespace: None,
            name: Arc::clone(&self.name),
            uid: Arc::clone(&self.uid),
        }
    }

    fn copy(&self) -> Option<ObjectRef> {
        let uid = self.claim.uid.clone()?;
        let (namespace, name) = (Some(self.claim.namespace.as_ref().into()), self.claim.name.as_ref().into());
        Some(ObjectRef { kind: Kind::BucketClaim, namespace, name, uid })
    }
}

impl Owner for BucketView {
    const THING: &'static str = "bucket";

    fn recorded(&self) -> Option<&str> {
        self.bucket_id.as_deref()
    }
}

/// The note due when a Ready Bucket slips from our hold: deleted by force, or its finalizer taken off while it is
/// deleting. Its backend bucket stays, and only a person can know what is to become of it (R12).
///
/// Own removals are not seen here as long as the shell folds them in before it compares.
#[must_use]
pub fn slipped(before: &BucketView, after: Option<&BucketView>) -> Option<Note> {
    let held = before.finalizer && before.is_ready();
    let lost = after.is_none_or(|a| a.uid != before.uid || (a.deleting && !a.finalizer));
    let id = before.bucket_id.as_deref().unwrap_or("not known");
    // Another sidecar may have finished a deletion that was under way.
    let left = if before.deleting { "may be left, check by hand" } else { "is left" };
    let text = format!(
        "the Ready Bucket went away by force, its backend bucket {left}: driver {}, bucket {}, bucketID {id}",
        before.driver, before.name
    );
    (held && lost).then(|| Note::warning(before, NoteReason::OwnerGone, &text))
}
