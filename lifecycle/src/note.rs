//! What a person is told by Kubernetes Event and log (R16).

use std::fmt;
use std::sync::Arc;

use crate::Uid;
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
    /// Our hold on the object ends though the backend could not be cleaned: check by hand (R10 e, R14).
    LetGo,
    /// The driver said twice that there is nothing to delete (R3).
    NotFoundAtBackend,
    /// The object went away by force; what it had at the backend is cleaned up, or was left (R12).
    OwnerGone,
    /// Somebody took the finalizer off a Ready object (R12).
    FinalizerStripped,
    /// A Secret of a Ready access is not as it was written; the access is granted again.
    SecretLost,
}

impl fmt::Display for NoteReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The kind of an object that a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the API's own")]
pub enum Kind {
    Bucket,
    BucketClaim,
    BucketAccess,
}

/// An object that a note is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; none if it is cluster-scoped.
    pub namespace: Option<Arc<str>>,
    /// Its name.
    pub name: Arc<str>,
    /// Its UID.
    pub uid: Uid,
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The object.
    pub about: ObjectRef,
    /// The object that gets a copy: the claim of a Bucket.
    pub copy: Option<ObjectRef>,
    /// How much to care.
    pub severity: Severity,
    /// The reason.
    pub reason: NoteReason,
    /// The text.
    pub text: String,
}

/// An object that a person can be told about.
pub(crate) trait Subject {
    /// The object itself.
    fn about(&self) -> ObjectRef;
    /// The object of which the owner should hear, too.
    fn copy(&self) -> Option<ObjectRef>;
}

impl<T: Subject> Subject for Arc<T> {
    fn about(&self) -> ObjectRef {
        self.as_ref().about()
    }

    fn copy(&self) -> Option<ObjectRef> {
        self.as_ref().copy()
    }
}

impl Note {
    pub(crate) fn new(of: &impl Subject, severity: Severity, reason: NoteReason, text: &str) -> Self {
        Self { about: of.about(), copy: of.copy(), severity, reason, text: printable(text) }
    }

    pub(crate) fn warning(of: &impl Subject, reason: NoteReason, text: &str) -> Self {
        Self::new(of, Severity::Warning, reason, text)
    }
}
