//! Replacing and changing objects.

use std::sync::Arc;

use serde_json::Value;

use super::strategy::finalizers_of_namespace;
use super::{Part, Strategy, Write, meta, metadata, owners, revision};
use crate::schema::{Cause, Kind};
use crate::status::Refusal;

/// What is said of an object of a custom kind that names no version.
pub(crate) const NO_VERSION: &str = "Object 'apiVersion' is missing in 'object has no apiVersion field'";

/// What an update makes of the object that is there. It is given the object in the form of the request's kind.
/// It says, too, whether a real server stores that in another form.
pub(crate) type Change<'a> = &'a mut dyn FnMut(&Value) -> Result<(Value, bool), Refusal>;

/// What an apply makes of the object that is there, or of nothing; and whether a real server stores it in another form.
pub(crate) type Application<'a> = &'a mut dyn FnMut(Option<&Value>) -> Result<(Value, bool), Refusal>;

/// An object after a write, and whether the write made it.
pub(crate) type Written = (Arc<Value>, bool);

impl Write<'_> {
    /// Replaces the object `name` by one that was read before.
    pub(crate) fn replace(&mut self, name: &str, mut object: Value) -> Result<Written, Refusal> {
        self.same_namespace(&mut object)?;
        same_name(name, &object)?;
        self.warnings.extend(owners::dedup(&mut object));
        let wanted = meta::text(&object, "uid").to_owned();
        let Some(live) = self.live(name)? else {
            if !self.strategy().creates_on_update() || self.part != Part::Main {
                return Err(Refusal::not_found(self.kind, name));
            }
            if !wanted.is_empty() {
                return Err(self.wrong_uid(name, &wanted, ""));
            }
            self.namespace_takes(&object)?;
            meta::remove(&mut object, "resourceVersion");
            self.track(None, &mut object);
            return Ok((self.insert(object)?, true));
        };
        let found = meta::text(&live, "uid");
        if !wanted.is_empty() && wanted != found {
            return Err(self.wrong_uid(name, &wanted, found));
        }
        self.track(Some(&live), &mut object);
        Ok((self.update(name, &live, object)?, false))
    }

    /// Changes the object `name`, which must be there.
    pub(crate) fn change(&mut self, name: &str, change: Change<'_>) -> Result<Arc<Value>, Refusal> {
        let Some(live) = self.live(name)? else { return Err(Refusal::not_found(self.kind, name)) };
        let (mut object, crude) = change(&live)?;
        self.crude = crude;
        self.fits(name, &mut object)?;
        self.track(Some(&live), &mut object);
        self.update(name, &live, object)
    }

    /// Changes the object `name`, or makes it. What does it keeps book of managers itself.
    pub(crate) fn apply(&mut self, name: &str, change: Application<'_>) -> Result<Written, Refusal> {
        if let Some(live) = self.live(name)? {
            let (mut object, crude) = change(Some(&live))?;
            self.crude = crude;
            self.fits(name, &mut object)?;
            return Ok((self.update(name, &live, object)?, false));
        }
        if self.part != Part::Main {
            return Err(Refusal::not_found(self.kind, name));
        }
        let (mut object, crude) = change(None)?;
        self.crude = crude;
        let uid = meta::text(&object, "uid");
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(Refusal::conflict(self.kind, name, &why));
        }
        self.fits(name, &mut object)?;
        self.namespace_takes(&object)?;
        revision(&object)?;
        let sent = meta::field(&object, "resourceVersion").cloned();
        meta::remove(&mut object, "resourceVersion");
        let mut made = self.insert(object)?;
        if let (true, Some(sent)) = (self.dry_run, sent) {
            // What is not stored keeps what it was sent with.
            meta::set(Arc::make_mut(&mut made), "resourceVersion", sent);
        }
        Ok((made, true))
    }

    /// What comes out of a patch must be the object that the path names.
    fn fits(&mut self, name: &str, object: &mut Value) -> Result<(), Refusal> {
        self.same_namespace(object)?;
        same_name(name, object)?;
        self.warnings.extend(owners::dedup(object));
        if self.manager.is_none() {
            meta::remove(object, "managedFields");
        }
        Ok(())
    }

    fn update(&mut self, name: &str, live: &Arc<Value>, mut new: Value) -> Result<Arc<Value>, Refusal> {
        self.newest(name, live, &mut new)?;
        let strategy = self.strategy();
        if !self.kind.builtin && new.get("apiVersion").and_then(Value::as_str).unwrap_or_default().is_empty()
        {
            return Err(Refusal::internal(NO_VERSION));
        }
        meta::copy(&mut new, live, "generation");
        if !self.dry_run {
            meta::remove(&mut new, "selfLink");
        }
        strategy.prepare_update(self.kind, self.part, &mut new, live);
        keep(&mut new, live);
        let mut causes = metadata::of_new(self.kind, &new, super::names::path_segment);
        causes.extend(metadata::of_update(&new, live));
        causes.extend(strategy.check_update(self.kind, self.part, &new, live));
        if !causes.is_empty() {
            return Err(self.invalid(&new, name, &causes));
        }
        if !self.kind.builtin && self.part == Part::Main {
            self.warnings.extend(metadata::finalizer_warnings(&new, Some(live)));
        }
        strategy.finish(&mut new);
        if !self.kind.builtin && self.part == Part::Status {
            // Of a status, the rest is written as it was read, and so in its own form.
            self.crude = false;
        }
        if is_done(strategy, &new, live) {
            let last = Arc::new(new);
            self.take(name, &last);
            return Ok(last);
        }
        if new == **live && self.keeps_form(name) {
            return Ok(Arc::clone(live));
        }
        Ok(self.store(name, new))
    }

    /// Whether a real server stores the same bytes if the object stays the same.
    fn keeps_form(&self, name: &str) -> bool {
        let was = self.is_crude(name);
        // A built-in object is compared with what is read, and not with what is stored.
        if self.kind.builtin { !was && !self.crude } else { was == self.crude }
    }

    /// The update must be made for the object as it is now, or for any.
    fn newest(&self, name: &str, live: &Value, new: &mut Value) -> Result<(), Refusal> {
        let (wanted, found) = (revision(new)?, revision(live)?);
        if wanted == 0 && self.strategy().updates_unconditionally() {
            meta::copy(new, live, "resourceVersion");
            return Ok(());
        }
        if wanted == 0 {
            let cause = Cause::invalid(
                "metadata.resourceVersion",
                &Value::from(0),
                "must be specified for an update",
            );
            return Err(Refusal::invalid_of(&self.kind.group, &self.kind.plural, name, &[cause]));
        }
        if wanted == found { Ok(()) } else { Err(Refusal::outdated(self.kind, name)) }
    }

    /// 422, told of the kind and group that the object says it is of.
    pub(super) fn invalid(&self, object: &Value, name: &str, causes: &[Cause]) -> Refusal {
        let Kind { group, kind, .. } = self.kind;
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or(kind);
        let group = match object.get("apiVersion").and_then(Value::as_str) {
            _ if self.strategy() == Strategy::Event => "",
            Some(version) => version.split_once('/').map_or("", |(group, _)| group),
            None => group,
        };
        Refusal::invalid_of(group, kind, name, causes)
    }
}

fn same_name(name: &str, object: &Value) -> Result<(), Refusal> {
    let found = meta::text(object, "name");
    if found == name {
        return Ok(());
    }
    if found.is_empty() {
        return Err(Refusal::nameless(name));
    }
    Err(Refusal::bad_request(format!(
        "the name of the object ({found}) does not match the name on the URL ({name})"
    )))
}

/// What no update can change.
fn keep(new: &mut Value, old: &Value) {
    if meta::text(new, "uid").is_empty() {
        meta::copy(new, old, "uid");
    }
    meta::copy(new, old, "creationTimestamp");
    if meta::is_deleting(old) {
        meta::copy(new, old, "deletionTimestamp");
    }
    if meta::field(new, "deletionGracePeriodSeconds").is_none() {
        meta::copy(new, old, "deletionGracePeriodSeconds");
    }
}

/// Whether the last finalizer of a deleted object is gone.
fn is_done(strategy: Strategy, new: &Value, old: &Value) -> bool {
    let finalizers = meta::finalizers(new).is_empty();
    let grace = meta::number(old, "deletionGracePeriodSeconds") == 0;
    let spec = strategy != Strategy::Namespace || finalizers_of_namespace(new).is_empty();
    finalizers && meta::is_deleting(old) && grace && spec
}
