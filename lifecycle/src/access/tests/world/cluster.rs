//! Secrets and Buckets, with the rules that the real API server keeps, and the controllers that look after them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cosi_api::DeletionPolicy;
use cosi_api::names::FINALIZER;

use super::api::bucket_id;
use super::{NAME, World};
use crate::WriteFailure;
use crate::access::{Owner, Place, SecretData, SecretView, Version};
use crate::bucket::{BucketView, ClaimRef};
use crate::testing::{Held as _, Mutant};

/// A Secret as the API server holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Secret {
    pub(crate) view: SecretView,
    pub(crate) data: BTreeMap<String, String>,
    /// It was made by a request that its sender had given up on.
    pub(crate) late: bool,
    pub(super) labels: u32,
}

/// How a Bucket is that is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reachable {
    Missing,
    Deleting,
    ClaimDeleting,
    OtherId,
    NoId,
}

impl World {
    /// A change of a Secret by whomever, as [`crate::testing::Api::change`].
    pub(super) fn change_secret(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut Secret),
    ) -> Option<SecretView> {
        let before = self.known.secrets.get(name)?;
        let mut after = before.clone();
        change(&mut after);
        let filled = after.data.iter().filter(|(_, value)| !value.is_empty());
        after.view.keys = filled.map(|(key, _)| key.clone()).collect();
        if *before == after {
            return Some(after.view);
        }
        after.view.set_version(self.api.next_version());
        let view = after.view.clone();
        if view.is_gone() {
            self.known.secrets.remove(name);
        } else {
            self.known.secrets.insert(name.into(), after);
        }
        Some(view)
    }

    pub(super) fn put_secret(&mut self, name: &str, owner: Option<Owner>, late: bool) {
        self.known.secret_uids += 1;
        let version = self.api.next_version();
        let view = SecretView {
            uid: format!("secret-uid-{}", self.known.secret_uids).into(),
            resource_version: version.to_string().into(),
            deleting: false,
            finalizer: owner.is_some(),
            other_finalizers: [].into(),
            owned: owner.is_some(),
            owner,
            keys: BTreeSet::new(),
        };
        let secret = Secret { view, data: BTreeMap::new(), late, labels: 0 };
        self.known.secrets.insert(name.into(), secret);
    }

    pub(super) fn create_secret(
        &mut self,
        place: &Place,
        owner: &Owner,
        data: &SecretData,
        late: bool,
    ) -> Result<Option<SecretView>, WriteFailure> {
        if self.known.terminating {
            return Err(WriteFailure::Forbidden { message: "the namespace is being terminated".to_owned() });
        }
        self.check_jam(&place.name)?;
        if self.known.secrets.contains_key(&place.name) {
            return Err(WriteFailure::Conflict);
        }
        self.put_secret(&place.name, Some(owner.clone()), late);
        Ok(self.fill_secret(&place.name, data))
    }

    pub(super) fn fill_secret(&mut self, name: &str, data: &SecretData) -> Option<SecretView> {
        self.change_secret(name, |secret| {
            secret.data.extend(data.iter().map(|(key, value)| (key.to_owned(), value.to_owned())));
        })
    }

    /// Whether the API server takes a write of this Secret.
    pub(super) fn check_jam(&self, name: &str) -> Result<(), WriteFailure> {
        let forbidden = || WriteFailure::Forbidden { message: "by an admission webhook".to_owned() };
        if self.known.jammed.is_some_and(|jammed| jammed == name) { Err(forbidden()) } else { Ok(()) }
    }

    /// Whether a Secret is there and still the one that was read.
    pub(super) fn find_secret(&self, version: &Version) -> Result<&Secret, WriteFailure> {
        let secret = self.known.secrets.get(&version.place.name).ok_or(WriteFailure::NotFound)?;
        self.check_jam(&version.place.name)?;
        let same = secret.view.uid == version.uid && secret.view.resource_version == version.resource_version;
        if same || self.has(Mutant::UnconditionedSecrets) { Ok(secret) } else { Err(WriteFailure::Conflict) }
    }

    /// The garbage collector deletes what belonged to an access that is gone.
    pub(super) fn collect_garbage(&mut self) {
        let alive = self.api.object.as_ref().map(|o| Arc::clone(&o.view.uid));
        let rest = self.known.secrets.iter().filter(|(_, secret)| {
            let owner = secret.view.owner.as_ref();
            owner.is_some_and(|o| *o.name == *NAME && Some(&o.uid) != alive.as_ref())
        });
        let rest: Vec<_> = rest.map(|(name, _)| Arc::clone(name)).collect();
        for name in rest {
            self.change_secret(&name, |secret| secret.view.begin_deletion());
        }
    }

    /// The controller takes its finalizer off when the clean-up is finished.
    pub(super) fn let_controller_act(&mut self) {
        let finished = |view: &crate::access::AccessView| view.deleting && view.cleanup_finished;
        if self.api.object.as_ref().is_some_and(|o| finished(&o.view)) {
            self.api.change(|o| o.view.finalizer = false);
        }
    }
}

/// A Bucket in this state.
pub(super) fn bucket(name: &str, state: Option<Reachable>) -> BucketView {
    let id = match state {
        Some(Reachable::NoId) => None,
        Some(Reachable::OtherId) => Some("another".into()),
        _ => Some(bucket_id(name).into()),
    };
    BucketView {
        name: name.into(),
        driver: "driver.example.com".into(),
        uid: format!("uid-of-{name}").into(),
        resource_version: "1".into(),
        deleting: state == Some(Reachable::Deleting),
        finalizer: true,
        other_finalizers: [].into(),
        claim_deleting: state == Some(Reachable::ClaimDeleting),
        let_go: false,
        policy: DeletionPolicy::Delete,
        claim: ClaimRef { name: "claim".into(), namespace: "users".into(), uid: Some("claim".into()) },
        protocols: [cosi_api::ObjectProtocol::S3].into(),
        parameters: None,
        existing_id: None,
        ready: Some(true),
        bucket_id: id,
    }
}

/// Other parties' finalizers among all.
pub(super) fn others(all: &[String]) -> Box<[Box<str>]> {
    all.iter().filter(|f| *f != FINALIZER).map(|f| f.as_str().into()).collect()
}
