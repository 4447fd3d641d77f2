//! Deleting objects.

use std::sync::Arc;

use serde_json::Value;

use super::lifecycle::may_be_deleted;
use super::strategy::finalizers_of_namespace;
use super::{Strategy, Write, meta};
use crate::status::Refusal;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What becomes of the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted, after it.
    Background,
    /// They are deleted, before it.
    Foreground,
    /// They stay, without an owner.
    Orphan,
}

/// The conditions and the manner of a deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) uid: Option<String>,
    pub(crate) revision: Option<String>,
    pub(crate) propagation: Option<Propagation>,
}

/// What a deletion did.
#[derive(Clone, Debug)]
pub(crate) enum Deleted {
    /// The object is gone.
    Gone(Arc<Value>),
    /// It waits for its finalizers.
    Waiting(Arc<Value>),
}

impl Write<'_> {
    /// Deletes the object `name`, or asks its finalizers for it.
    pub(crate) fn delete(&mut self, name: &str, options: &DeleteOptions) -> Result<Deleted, Refusal> {
        may_be_deleted(self.kind, name)?;
        let Some(live) = self.live(name)? else { return Err(Refusal::not_found(self.kind, name)) };
        if self.strategy() == Strategy::Namespace {
            if let Some(waiting) = self.delete_namespace(name, &live, options)? {
                return Ok(Deleted::Waiting(waiting));
            }
        } else {
            self.precondition(name, &live, options)?;
        }
        let finalizers = self.finalizers(&live, options.propagation);
        if finalizers.is_empty() {
            return Ok(Deleted::Gone(self.take(name, &live)));
        }
        let mut object = Value::clone(&live);
        mark(&mut object, &self.now());
        meta::set(&mut object, "deletionGracePeriodSeconds", 0);
        meta::set_finalizers(&mut object, finalizers);
        Ok(Deleted::Waiting(self.store_changed(name, &live, object)))
    }

    fn store_changed(&mut self, name: &str, live: &Arc<Value>, object: Value) -> Arc<Value> {
        if object == **live { Arc::clone(live) } else { self.store(name, object) }
    }

    /// The first deletion of a Namespace only announces it; as long as there are finalizers in the spec, the later ones
    /// do nothing. `None` lets the deletion go on as that of any object.
    fn delete_namespace(
        &mut self,
        name: &str,
        live: &Arc<Value>,
        options: &DeleteOptions,
    ) -> Result<Option<Arc<Value>>, Refusal> {
        for (condition, field, words) in
            [(&options.uid, "uid", "UID"), (&options.revision, "resourceVersion", "ResourceVersion")]
        {
            let found = meta::text(live, field);
            if let Some(wanted) = condition.as_deref().filter(|wanted| *wanted != found) {
                let why = format!(
                    "Precondition failed: {words} in precondition: {wanted}, {words} in object meta: {found}"
                );
                return Err(Refusal::conflict(self.kind, name, &why));
            }
        }
        if meta::is_deleting(live) {
            return Ok((!finalizers_of_namespace(live).is_empty()).then(|| Arc::clone(live)));
        }
        let mut object = Value::clone(live);
        meta::set(&mut object, "deletionTimestamp", self.now());
        if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
            status.insert("phase".to_owned(), Value::from("Terminating"));
        }
        let finalizers = self.finalizers(live, options.propagation);
        meta::set_finalizers(&mut object, finalizers);
        Ok(Some(self.store_changed(name, live, object)))
    }

    fn precondition(&self, name: &str, live: &Value, options: &DeleteOptions) -> Result<(), Refusal> {
        for (condition, field, words, moral) in [
            (&options.uid, "uid", "UID", "The object might have been deleted and then recreated"),
            (&options.revision, "resourceVersion", "ResourceVersion", "The object might have been modified"),
        ] {
            let found = meta::text(live, field);
            if let Some(wanted) = condition.as_deref().filter(|wanted| *wanted != found) {
                let why = format!(
                    "the {words} in the precondition ({wanted}) does not match the {words} in record ({found}). {moral}"
                );
                return Err(Refusal::conflict_by_kind(self.kind, name, &why));
            }
        }
        Ok(())
    }

    /// The finalizers that the object has after this deletion: those of the garbage collector are set as the policy asks.
    fn finalizers(&self, live: &Value, propagation: Option<Propagation>) -> Vec<String> {
        let before = meta::finalizers(live);
        let standing = before.iter().find_map(|finalizer| match *finalizer {
            ORPHAN => Some(Propagation::Orphan),
            FOREGROUND => Some(Propagation::Foreground),
            _ => None,
        });
        let dependents = self.strategy().has_dependents();
        let added = match propagation.or(standing).filter(|_| dependents) {
            Some(Propagation::Orphan) => Some(ORPHAN),
            Some(Propagation::Foreground) => Some(FOREGROUND),
            Some(Propagation::Background) | None => None,
        };
        if added.is_some_and(|added| before.contains(&added))
            && !(before.contains(&ORPHAN) && before.contains(&FOREGROUND))
        {
            return before.into_iter().map(str::to_owned).collect();
        }
        let others = before.into_iter().filter(|finalizer| *finalizer != ORPHAN && *finalizer != FOREGROUND);
        others.chain(added).map(str::to_owned).collect()
    }
}

/// Sets the time of deletion, which counts as a change of what is wanted of the object.
fn mark(object: &mut Value, now: &str) {
    if meta::is_deleting(object) {
        return;
    }
    let generation = meta::number(object, "generation");
    if generation > 0 {
        meta::set(object, "generation", generation + 1);
    }
    meta::set(object, "deletionTimestamp", now);
}
