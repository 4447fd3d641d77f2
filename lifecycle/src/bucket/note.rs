//! What a person is told by Kubernetes Event and log (R16).

use std::fmt;

use super::{BucketView, ClaimRef, Uid};
use crate::problem::printable;

/// How much a person should care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// As asked for.
    Normal,
    /// Somebody should look.
    Warning,
}

/// The machine-readable reason of a Kubernetes Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteReason {
    /// The driver or the object's own content rules the work out until something changes.
    Refused,
    /// Work fails and goes on with backoff.
    Failing,
    /// A deletion cannot go on (R14).
    DeletionBlocked,
    /// The backend bucket was left in place by policy (R13).
    Retained,
    /// The backend was deleted before the policy was changed to Retain (R13).
    AlreadyDeleted,
    /// The finalizer goes though the backend could not be cleaned: check by hand (R10 e, R14).
    LetGo,
    /// The driver said twice that there is nothing to delete (R3).
    NotFoundAtBackend,
    /// The object went away by force; its backend bucket is cleaned up, or was left by policy (R12).
    OwnerGone,
    /// Somebody took the finalizer off a Ready Bucket (R12).
    FinalizerStripped,
}

impl fmt::Display for NoteReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The Bucket's name.
    pub bucket: std::sync::Arc<str>,
    /// The Bucket's UID.
    pub uid: Uid,
    /// Its claim, which gets a copy.
    pub claim: ClaimRef,
    /// How much to care.
    pub severity: Severity,
    /// The reason.
    pub reason: NoteReason,
    /// The text.
    pub text: String,
}

impl Note {
    pub(crate) fn new(of: &BucketView, severity: Severity, reason: NoteReason, text: &str) -> Self {
        Self {
            bucket: of.name.clone(),
            uid: of.uid.clone(),
            claim: of.claim.clone(),
            severity,
            reason,
            text: printable(text),
        }
    }

    pub(crate) fn warning(of: &BucketView, reason: NoteReason, text: &str) -> Self {
        Self::new(of, Severity::Warning, reason, text)
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
