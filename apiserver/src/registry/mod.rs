//! What a write may do to an object of a kind, and how it is stored.

mod create;
mod delete;
mod lifecycle;
pub(crate) mod meta;
mod metadata;
pub(crate) mod names;
mod owners;
mod state;
pub(crate) mod strategy;
mod update;
pub(crate) mod view;

use std::num::{IntErrorKind, ParseIntError};
use std::sync::Arc;

use serde_json::Value;

pub(crate) use delete::{DeleteOptions, Deleted, Propagation};
pub(crate) use state::State;
pub(crate) use strategy::definition::established;
pub(crate) use strategy::{Part, Strategy, finalizers_of_namespace};
pub(crate) use update::{NO_VERSION, Written};

use crate::clock::{Clock, seconds};
use crate::patch::{self, Writer};
use crate::schema::{Kind, print};
use crate::service::Shared;
use crate::status::Refusal;

/// One write to an object, as far as it is the same for all verbs.
pub(crate) struct Write<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) kind: &'a Kind,
    /// The namespace in the path; empty for cluster-wide kinds.
    pub(crate) namespace: &'a str,
    pub(crate) part: Part,
    /// Everything is checked and nothing is stored.
    pub(crate) dry_run: bool,
    /// Who is said to manage the fields that are written. Nobody keeps book if it is missing.
    pub(crate) manager: Option<&'a str>,
    /// What the client should know though nothing is refused.
    pub(crate) warnings: Vec<String>,
    /// Whether a real server stores the object in another form than the one in which it reads it again.
    pub(crate) crude: bool,
}

/// The name under which the objects of a kind are stored. The two groups of Events share theirs.
pub(crate) fn resource(kind: &Kind) -> Arc<str> {
    if kind.group.is_empty() || Strategy::of(kind) == Strategy::Event {
        Arc::from(kind.plural.as_str())
    } else {
        Arc::from(format!("{}.{}", kind.plural, kind.group))
    }
}

/// Where an object is stored, and its place in lists.
pub(crate) fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// A name must not mean another path.
pub(crate) fn names_one(name: &str) -> Result<(), Refusal> {
    let wrong = names::path_segment(name);
    if wrong.is_empty() {
        return Ok(());
    }
    let quoted = print::quoted(name);
    Err(Refusal::bad_request(format!("Name parameter invalid: {quoted}: {}", wrong.join(";"))))
}

impl<'a> Write<'a> {
    /// A write that is meant, by `manager`.
    pub(crate) fn new(
        shared: &'a Shared,
        state: &'a mut State,
        kind: &'a Kind,
        namespace: &'a str,
        part: Part,
        manager: &'a str,
    ) -> Self {
        Self {
            state,
            clock: shared.clock(),
            kind,
            namespace,
            part,
            dry_run: false,
            manager: shared.keeps_managers().then_some(manager),
            warnings: Vec::new(),
            crude: false,
        }
    }
}

impl Write<'_> {
    fn strategy(&self) -> Strategy {
        Strategy::of(self.kind)
    }

    /// The object as it is stored now.
    fn live(&self, name: &str) -> Result<Option<Arc<Value>>, Refusal> {
        names_one(name)?;
        Ok(self.state.store.get(&resource(self.kind), &key(self.namespace, name)).cloned())
    }

    /// Stores an object that passed all checks, unless this is a dry run.
    fn store(&mut self, name: &str, object: Value) -> Arc<Value> {
        if self.dry_run {
            return Arc::new(object);
        }
        let (resource, key) = (resource(self.kind), key(self.namespace, name));
        self.state.note_form(&resource, &key, self.crude);
        let stored = self.state.store.put(&resource, &key, object);
        if self.strategy() == Strategy::Event {
            self.state.passes(&key, self.clock.now());
        }
        stored
    }

    /// Whether the object is stored in another form than the one in which it is read.
    fn is_crude(&self, name: &str) -> bool {
        self.state.is_crude(&resource(self.kind), &key(self.namespace, name))
    }

    /// Removes an object, unless this is a dry run. Answers with how it was last.
    fn take(&mut self, name: &str, last: &Arc<Value>) -> Arc<Value> {
        let removed = if self.dry_run {
            None
        } else {
            let (resource, key) = (resource(self.kind), key(self.namespace, name));
            self.state.note_form(&resource, &key, false);
            self.state.store.remove(&resource, &key)
        };
        removed.unwrap_or_else(|| Arc::clone(last))
    }

    fn now(&self) -> String {
        seconds(self.clock.now())
    }

    /// Notes which fields the manager has changed. Nothing is refused because of that.
    fn track(&self, old: Option<&Value>, new: &mut Value) {
        let Some(manager) = self.manager else {
            meta::remove(new, "managedFields");
            return;
        };
        let writer = Writer { manager, subresource: self.part.name(), now: self.clock.now() };
        if !view::is_needed(self.kind) {
            patch::track(self.kind, old, new, writer);
            return;
        }
        let old = old.map(|old| view::shown(self.kind, old));
        let mut shown = view::shown(self.kind, new).into_owned();
        patch::track(self.kind, old.as_deref(), &mut shown, writer);
        meta::copy(new, &shown, "managedFields");
    }

    /// An object may name its namespace, but no other than the path does. That of cluster-wide objects is ignored.
    fn same_namespace(&self, object: &mut Value) -> Result<(), Refusal> {
        match meta::text(object, "namespace") {
            _ if self.namespace.is_empty() => {
                meta::remove(object, "namespace");
                Ok(())
            }
            "" => {
                meta::set(object, "namespace", self.namespace);
                Ok(())
            }
            namespace if namespace == self.namespace => Ok(()),
            _ => Err(Refusal::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            )),
        }
    }

    /// Where a real API server keeps the object: some of its messages name that place.
    fn path(&self, name: &str) -> String {
        let kind = self.kind;
        let folder =
            if kind.builtin { kind.plural.clone() } else { format!("{}/{}", kind.group, kind.plural) };
        // What is only tried does not go all the way there.
        let root = if self.dry_run { "" } else { "/registry" };
        format!("{root}/{folder}/{}", key(self.namespace, name))
    }

    /// 409: the object of that name is another one than the request means.
    fn wrong_uid(&self, name: &str, wanted: &str, found: &str) -> Refusal {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
            self.path(name)
        );
        Refusal::conflict(self.kind, name, &why)
    }
}

/// The resourceVersion that an object carries: 0 for none.
fn revision(object: &Value) -> Result<u64, Refusal> {
    let text = meta::text(object, "resourceVersion");
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| Refusal::other(500, &unparsed(text)))
}

/// What is said of a resourceVersion that is none.
pub(crate) fn invalid_revision(text: &str) -> String {
    format!("resourceVersion: Invalid value: {}: {}", print::quoted(text), unparsed(text))
}

/// What Go says of a text that is no number.
fn unparsed(text: &str) -> String {
    let why = text.parse::<u64>().err().map_or("invalid syntax", |error| not_a_number(&error));
    format!("strconv.ParseUint: parsing {}: {why}", print::quoted(text))
}

/// What Go says of a number that cannot be read.
pub(crate) fn not_a_number(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}
