//! What is special about each kind: what a write may not touch, what is filled in, what is checked.
//!
//! The order of checks is the API server's, since it decides what a client is told first.

mod custom;
pub(crate) mod definition;
mod event;
mod lease;
mod namespace;
mod secret;

use serde_json::Value;

pub(crate) use namespace::finalizers as finalizers_of_namespace;

use super::metadata;
use crate::schema::{Cause, Kind};

/// Which part of an object a write is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object itself.
    Main,
    /// Its status.
    Status,
    /// The finalizers in a Namespace's spec.
    Finalize,
}

impl Part {
    /// The name in paths and in managed fields.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
        }
    }
}

/// The kinds that differ in their rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// By a CustomResourceDefinition.
    Custom,
    /// Secrets.
    Secret,
    /// Events, in either group.
    Event,
    /// Leases.
    Lease,
    /// Namespaces.
    Namespace,
    /// Definitions of kinds: those that the server was built with, and no others.
    Definition,
}

impl Strategy {
    pub(crate) fn of(kind: &Kind) -> Self {
        match (kind.builtin, kind.plural.as_str()) {
            (true, "secrets") => Self::Secret,
            (true, "events") => Self::Event,
            (true, "leases") => Self::Lease,
            (true, "namespaces") => Self::Namespace,
            (true, "customresourcedefinitions") => Self::Definition,
            _ => Self::Custom,
        }
    }

    /// Whether a PUT makes an object that is not there.
    pub(crate) fn creates_on_update(self) -> bool {
        matches!(self, Self::Event | Self::Lease)
    }

    /// Whether a PUT without a resourceVersion replaces whatever is there.
    pub(crate) fn updates_unconditionally(self) -> bool {
        !matches!(self, Self::Custom | Self::Lease | Self::Definition)
    }

    /// Whether deletion knows policies for dependents.
    pub(crate) fn has_dependents(self) -> bool {
        self != Self::Event
    }

    /// Whether a finished deletion answers with the object rather than with a Status.
    pub(crate) fn returns_deleted(self) -> bool {
        self == Self::Namespace
    }

    /// Fills in what clients of built-in kinds may leave out, in an object as it was read.
    pub(crate) fn complete(self, object: &mut Value) {
        match self {
            Self::Secret => secret::complete(object),
            Self::Namespace => namespace::complete(object),
            Self::Custom | Self::Event | Self::Lease | Self::Definition => {}
        }
    }

    /// Whether a real server stores an object, as it was sent, in another form than the one in which it reads it again.
    pub(crate) fn stores_crudely(self, sent: &Value) -> bool {
        self == Self::Secret && secret::has_null(sent)
    }

    /// Brings a new object into the form in which it is stored.
    pub(crate) fn prepare_create(self, kind: &Kind, object: &mut Value) {
        match self {
            Self::Custom => custom::prepare_create(kind, object),
            Self::Lease => lease::drop_disabled(object, None),
            Self::Namespace => namespace::prepare_create(object),
            Self::Secret | Self::Event | Self::Definition => {}
        }
    }

    /// What is wrong with a new object.
    pub(crate) fn check_create(self, kind: &Kind, object: &Value) -> Vec<Cause> {
        let mut causes = match self {
            Self::Event => event::check_create(kind, object),
            Self::Custom | Self::Lease | Self::Definition => {
                metadata::of_new(kind, object, metadata::name_check(kind))
            }
            _ => metadata::of_new_builtin(kind, object),
        };
        match self {
            Self::Custom => causes = custom::check(kind, object, None, Part::Main, causes),
            Self::Secret => causes.extend(secret::check(object)),
            Self::Lease => causes.extend(lease::check(object)),
            Self::Namespace => causes.extend(namespace::check_finalizers(object, false)),
            Self::Event | Self::Definition => {}
        }
        causes
    }

    /// What is done to a new object after the checks.
    pub(crate) fn finish(self, object: &mut Value) {
        if self == Self::Namespace {
            namespace::label(object);
        }
    }

    /// Takes back what this part of the object may not change.
    pub(crate) fn prepare_update(self, kind: &Kind, part: Part, new: &mut Value, old: &Value) {
        match self {
            Self::Custom => custom::prepare_update(kind, part, new, old),
            Self::Lease => lease::drop_disabled(new, Some(old)),
            Self::Namespace => namespace::prepare_update(part, new, old),
            Self::Definition => definition::keep_status(new, old),
            Self::Secret | Self::Event => {}
        }
    }

    /// What is wrong with an object that replaces another. The metadata is checked by every layer of the API server
    /// that has to do with it, and each adds its findings.
    pub(crate) fn check_update(self, kind: &Kind, part: Part, new: &Value, old: &Value) -> Vec<Cause> {
        let common = match (self, part) {
            (Self::Event, _) => event::check_update(kind, new, old),
            (Self::Custom | Self::Lease | Self::Definition, _) => metadata::of_update(new, old),
            _ => metadata::of_updated_builtin(new, old),
        };
        match self {
            Self::Custom => custom::check(kind, new, Some(old), part, common),
            Self::Secret => {
                let again = metadata::of_new_builtin(kind, new);
                [common, secret::check_update(new, old), again, secret::check(new)].concat()
            }
            Self::Lease => [common, lease::check(new)].concat(),
            Self::Namespace => namespace::check_update(kind, part, new, common),
            Self::Definition => [common, definition::check_update(new, old)].concat(),
            Self::Event => common,
        }
    }
}
