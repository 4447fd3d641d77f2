//! Making objects.

use std::sync::Arc;

use serde_json::Value;

use super::strategy::definition::FIXED;
use super::{Strategy, Write, key, meta, metadata, names, owners, resource};
use crate::status::Refusal;

/// How often another name is generated if one is taken.
const ATTEMPTS: usize = 8;
/// How much of `generateName` is used, so that the name is not too long.
const PREFIX_MAX: usize = 63 - 5;

impl Write<'_> {
    /// Makes the object, which was read before.
    pub(crate) fn create(&mut self, object: Value) -> Result<Arc<Value>, Refusal> {
        let generated =
            meta::text(&object, "name").is_empty() && !meta::text(&object, "generateName").is_empty();
        for _ in 1..if generated { ATTEMPTS } else { 1 } {
            match self.create_once(object.clone()) {
                Err(refusal) if refusal.is_already_exists() => {}
                result => return result,
            }
        }
        self.create_once(object)
    }

    fn create_once(&mut self, mut object: Value) -> Result<Arc<Value>, Refusal> {
        for field in
            ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "selfLink"]
        {
            meta::remove(&mut object, field);
        }
        self.same_namespace(&mut object)?;
        self.warnings.extend(owners::dedup(&mut object));
        self.namespace_takes(&object)?;
        self.track(None, &mut object);
        self.insert(object)
    }

    /// Checks and stores a new object.
    pub(super) fn insert(&mut self, mut object: Value) -> Result<Arc<Value>, Refusal> {
        let strategy = self.strategy();
        meta::set(&mut object, "creationTimestamp", self.now());
        meta::set(&mut object, "uid", self.state.uids.uid());
        let prefix = meta::text(&object, "generateName").to_owned();
        let generated = !prefix.is_empty() && meta::text(&object, "name").is_empty();
        if generated {
            let cut = prefix.char_indices().nth(PREFIX_MAX).map_or(prefix.len(), |(at, _)| at);
            let kept = prefix.get(..cut).unwrap_or_default();
            meta::set(&mut object, "name", format!("{kept}{}", self.state.uids.suffix()));
        }
        let name = meta::text(&object, "name").to_owned();
        strategy.prepare_create(self.kind, &mut object);
        let causes = strategy.check_create(self.kind, &object);
        if !causes.is_empty() {
            return Err(self.invalid(&object, &name, &causes));
        }
        let causes = metadata::of_new(self.kind, &object, names::path_segment);
        if !causes.is_empty() {
            return Err(self.invalid(&object, &name, &causes));
        }
        if !self.kind.builtin {
            self.warnings.extend(metadata::finalizer_warnings(&object, None));
        }
        strategy.finish(&mut object);
        if super::revision(&object).is_ok_and(|revision| revision != 0) {
            return Err(Refusal::other(500, "resourceVersion should not be set on objects to be created"));
        }
        meta::remove(&mut object, "resourceVersion");
        self.free(&name, !prefix.is_empty())?;
        if strategy == Strategy::Definition {
            return Err(Refusal::forbidden(self.kind, &name, FIXED));
        }
        if !self.dry_run {
            meta::remove(&mut object, "selfLink");
        }
        Ok(self.store(&name, object))
    }

    /// The name must not be taken. Whoever lets the server choose names may try again.
    fn free(&self, name: &str, generates: bool) -> Result<(), Refusal> {
        let Some(taken) = self.state.store.get(&resource(self.kind), &key(self.namespace, name)) else {
            return Ok(());
        };
        let refusal = Refusal::already_exists(self.kind, name);
        let refusal = if generates { refusal.of_generated_name() } else { refusal };
        Err(if meta::is_deleting(taken) { refusal.preceded_by("object is being deleted: ") } else { refusal })
    }
}
