//! The backend: buckets as they really are, whatever was answered.

use std::collections::{BTreeMap, BTreeSet};

use cosi_proto::v1alpha2 as wire;
use tonic::Status;

use super::abilities::{Abilities, Ids};
use super::accounts::Account;
use super::info::Protocol;
use super::ledger::Effect;

/// One bucket at the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its id.
    pub id: String,
    /// The name that it was made for; empty for a foreign one.
    pub name: String,
    /// Whether it was there before, made by nobody's Create.
    pub foreign: bool,
    /// Whether only half of the work was done.
    pub half: bool,
    /// What it was asked to be.
    pub(super) wanted: Wanted,
}

/// What two Creates must agree on to mean the same bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    protocols: BTreeSet<i32>,
    parameters: BTreeMap<String, String>,
}

impl Wanted {
    pub(super) fn new(protocols: &[wire::ObjectProtocol], parameters: &BTreeMap<String, String>) -> Self {
        Self { protocols: protocols.iter().map(|p| p.r#type).collect(), parameters: parameters.clone() }
    }

    /// Those asked for, or all that the driver has if none was.
    pub(super) fn protocols(&self, abilities: &Abilities) -> Vec<Protocol> {
        let asked = |p: &Protocol| self.protocols.is_empty() || self.protocols.contains(&p.to_wire().r#type);
        abilities.protocols.iter().copied().filter(asked).collect()
    }
}

/// What a backend call did and what there is to say.
pub(super) type Done<T> = (Vec<Effect>, Result<T, Status>);

#[derive(Default)]
pub(super) struct Backend {
    pub(super) buckets: Vec<Bucket>,
    pub(super) accounts: Vec<Account>,
    /// Every id that was ever made, and for which name.
    pub(super) names: BTreeMap<String, String>,
    /// Every credential that an answer ever had in it, lost answers too.
    pub(super) handed_out: BTreeSet<String>,
    made: u64,
}

impl Backend {
    /// The buckets that carry the name.
    pub(super) fn named(&self, name: &str) -> Option<Bucket> {
        self.buckets.iter().find(|bucket| !bucket.foreign && bucket.name == name).cloned()
    }

    /// A number that was never used before.
    pub(super) fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub(super) fn new_id(&mut self, ids: &Ids, name: &str, kind: &str) -> String {
        let serial = self.next();
        let id = match ids {
            Ids::Derived(prefix) => format!("{prefix}{name}"),
            Ids::Opaque | Ids::OpaqueRacy => format!("{kind}-{:08x}", serial * 0x9e37),
        };
        self.names.insert(id.clone(), name.to_owned());
        id
    }

    /// Makes the bucket, or finds it made. `seen` is what the call saw under the name when it arrived.
    pub(super) fn create(
        &mut self,
        abilities: &Abilities,
        name: &str,
        wanted: &Wanted,
        seen: Option<Bucket>,
        half: bool,
    ) -> Done<Bucket> {
        let found = match &abilities.ids {
            Ids::Derived(prefix) => self.by_id(&format!("{prefix}{name}")).cloned(),
            Ids::Opaque => self.named(name),
            Ids::OpaqueRacy => seen,
        };
        match found {
            Some(bucket) if bucket.foreign || bucket.wanted != *wanted => {
                (vec![], Err(Status::already_exists("a bucket of that name, but not this one, is there")))
            }
            Some(bucket) => self.complete(bucket, half),
            None => {
                let id = self.new_id(&abilities.ids, name, "bucket");
                let bucket = Bucket {
                    id: id.clone(),
                    name: name.to_owned(),
                    foreign: false,
                    half,
                    wanted: wanted.clone(),
                };
                self.buckets.push(bucket.clone());
                (vec![Effect::Made { id, name: name.to_owned(), half }], Ok(bucket))
            }
        }
    }

    fn complete(&mut self, mut bucket: Bucket, half: bool) -> Done<Bucket> {
        if !bucket.half || half {
            return (vec![], Ok(bucket));
        }
        bucket.half = false;
        for there in self.buckets.iter_mut().filter(|there| there.id == bucket.id) {
            there.half = false;
        }
        (vec![Effect::Completed { id: bucket.id.clone() }], Ok(bucket))
    }

    pub(super) fn by_id(&self, id: &str) -> Option<&Bucket> {
        self.buckets.iter().find(|bucket| bucket.id == id)
    }

    pub(super) fn delete(&mut self, abilities: &Abilities, id: &str) -> Done<()> {
        if id.is_empty() {
            return (vec![], Err(Status::invalid_argument("bucket_id is empty")));
        }
        let effects = self.remove(|bucket| bucket.id == id);
        if effects.is_empty() && abilities.not_found_when_absent {
            return (effects, Err(Status::not_found("no such bucket")));
        }
        (effects, Ok(()))
    }

    /// Deletes what Creates with these fields made; everything else under that name isn't ours.
    pub(super) fn delete_by_name(&mut self, abilities: &Abilities, name: &str, wanted: &Wanted) -> Done<()> {
        let derived = match &abilities.ids {
            Ids::Derived(prefix) if abilities.takes_foreign => Some(format!("{prefix}{name}")),
            _ => None,
        };
        let ours = |bucket: &Bucket| !bucket.foreign && bucket.name == name && bucket.wanted == *wanted;
        let effects = self.remove(|bucket| ours(bucket) || derived.as_ref() == Some(&bucket.id));
        if effects.is_empty() && abilities.not_found_when_absent {
            return (effects, Err(Status::not_found("no such bucket")));
        }
        (effects, Ok(()))
    }

    pub(super) fn add_foreign(&mut self, id: &str) {
        let (id, name) = (id.to_owned(), String::new());
        self.buckets.push(Bucket { id, name, foreign: true, half: false, wanted: Wanted::default() });
    }

    pub(super) fn lose(&mut self, id: &str) -> bool {
        !self.remove(|bucket| bucket.id == id).is_empty()
    }

    fn remove(&mut self, which: impl Fn(&Bucket) -> bool) -> Vec<Effect> {
        let (gone, kept) = std::mem::take(&mut self.buckets).into_iter().partition(which);
        self.buckets = kept;
        let gone: Vec<Bucket> = gone;
        gone.into_iter().map(|bucket| Effect::Deleted { id: bucket.id, name: bucket.name }).collect()
    }
}
