//! What is there.

use std::collections::{BTreeMap, BTreeSet};

/// The fields that tell one create from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) protocols: BTreeSet<i32>,
    pub(crate) parameters: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    pub(crate) wanted: Wanted,
    pub(crate) objects: BTreeMap<String, Vec<u8>>,
}

/// The fields that tell one grant from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) authentication: i32,
    /// Modes by bucket.
    pub(crate) buckets: BTreeMap<String, i32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) reach: Reach,
    /// Secrets by key id, the newest last.
    pub(crate) keys: Vec<(String, String)>,
}

/// Buckets and accounts by id.
#[derive(Default, Debug)]
pub(crate) struct Backend {
    pub(crate) buckets: BTreeMap<String, Bucket>,
    pub(crate) accounts: BTreeMap<String, Account>,
    /// Keys that work though their account is gone.
    pub(crate) ghosts: Vec<(String, Reach)>,
    /// Names for which a create is under way, for a driver that keeps no order.
    pub(crate) marks: BTreeSet<String>,
    /// What the driver's process knows: the ids of names.
    pub(crate) known: BTreeMap<String, String>,
    next: u64,
}

impl Backend {
    pub(crate) fn serial(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// How often a number was drawn.
    pub(crate) fn serials(&self) -> u64 {
        self.next
    }

    pub(crate) fn bucket_of(&self, name: &str) -> Option<(String, Bucket)> {
        let found = self.buckets.iter().find(|(_, bucket)| bucket.name == name);
        found.map(|(id, bucket)| (id.clone(), bucket.clone()))
    }

    pub(crate) fn account_of(&self, name: &str) -> Option<(String, Account)> {
        let found = self.accounts.iter().find(|(_, account)| account.name == name);
        found.map(|(id, account)| (id.clone(), account.clone()))
    }

    /// What the key may do where.
    pub(crate) fn reach_of(&self, key: &str) -> Option<Reach> {
        let account = self.accounts.values().find(|account| account.keys.iter().any(|(id, _)| id == key));
        let ghost = || self.ghosts.iter().find(|(id, _)| id == key).map(|(_, reach)| reach.clone());
        account.map(|account| account.reach.clone()).or_else(ghost)
    }

    /// Everything that is there.
    pub(crate) fn all(&self) -> Vec<String> {
        let buckets = self.buckets.iter().map(|(id, bucket)| format!("bucket {id} of {}", bucket.name));
        let accounts = self.accounts.iter().map(|(id, account)| format!("account {id} of {}", account.name));
        buckets.chain(accounts).collect()
    }
}
