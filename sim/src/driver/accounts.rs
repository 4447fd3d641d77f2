//! The backend: accounts and their keys.

use std::collections::BTreeMap;

use cosi_proto::v1alpha2 as wire;
use tonic::Status;

use super::CANARY;
use super::abilities::{Abilities, Ids, Keys};
use super::backend::{Backend, Done};
use super::info::Protocol;
use super::ledger::Effect;

/// One account at the backend.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: String,
    /// The name that it was made for.
    pub name: String,
    /// The keys that work: id and secret.
    pub keys: Vec<(String, String)>,
    /// Bucket ids and access modes (numbers of the wire) that it reaches.
    pub reach: BTreeMap<String, i32>,
    pub(super) wanted: Access,
}

/// The secrets stay out of it.
impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<&str> = self.keys.iter().map(|(id, _)| id.as_str()).collect();
        f.debug_struct("Account")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("keys", &keys)
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

/// What two Grants must agree on to mean the same account. Order of buckets doesn't matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    protocol: i32,
    authentication: i32,
    service_account: String,
    parameters: BTreeMap<String, String>,
}

impl Access {
    pub(super) fn of_grant(r: &wire::DriverGrantBucketAccessRequest) -> Self {
        Self {
            protocol: r.protocol.as_ref().map_or(0, |p| p.r#type),
            authentication: r.authentication_type.as_ref().map_or(0, |a| a.r#type),
            service_account: r.service_account_name.clone(),
            parameters: r.parameters.clone(),
        }
    }

    pub(super) fn of_revoke(r: &wire::DriverRevokeBucketAccessByNameRequest) -> Self {
        Self {
            protocol: r.protocol.as_ref().map_or(0, |p| p.r#type),
            authentication: r.authentication_type.as_ref().map_or(0, |a| a.r#type),
            service_account: r.service_account_name.clone(),
            parameters: r.parameters.clone(),
        }
    }

    pub(super) fn protocol(&self) -> Option<Protocol> {
        Protocol::from_wire(wire::ObjectProtocol { r#type: self.protocol })
    }

    fn by_key(&self) -> bool {
        self.authentication == i32::from(wire::authentication_type::Type::Key)
    }
}

/// Buckets and access modes of a Grant.
pub(super) fn reach(r: &wire::DriverGrantBucketAccessRequest) -> BTreeMap<String, i32> {
    r.buckets.iter().map(|b| (b.bucket_id.clone(), b.access_mode.as_ref().map_or(0, |m| m.mode))).collect()
}

impl Backend {
    pub(super) fn account_named(&self, name: &str) -> Option<Account> {
        self.accounts.iter().find(|account| account.name == name).cloned()
    }

    /// Makes the account, or finds it made, and sees to its keys. `seen` is what the call saw under the name when it
    /// arrived.
    pub(super) fn grant(
        &mut self,
        abilities: &Abilities,
        request: &wire::DriverGrantBucketAccessRequest,
        seen: Option<Account>,
        half: bool,
    ) -> Done<Account> {
        let (name, wanted, reach) = (&request.account_name, Access::of_grant(request), reach(request));
        if reach.len() > 1 && !abilities.multi_bucket {
            return (vec![], Err(Status::out_of_range("one bucket per access")));
        }
        if let Some(missing) = reach.keys().find(|id| self.by_id(id).is_none()) {
            return (vec![], Err(Status::not_found(format!("no bucket {missing}"))));
        }
        let racy = abilities.ids == Ids::OpaqueRacy;
        let found = if racy { seen } else { self.account_named(name) };
        let mut effects = vec![];
        let id = match found {
            Some(account) if account.wanted != wanted || account.reach != reach => {
                return (
                    vec![],
                    Err(Status::already_exists("an account of that name, but another one, is there")),
                );
            }
            Some(account) => account.id,
            None => {
                let id = self.new_id(&abilities.ids, name, "account");
                self.accounts.push(Account {
                    id: id.clone(),
                    name: name.clone(),
                    keys: vec![],
                    reach,
                    wanted,
                });
                effects.push(Effect::Made { id: id.clone(), name: name.clone(), half });
                id
            }
        };
        let serial = self.next();
        let Some(account) = self.accounts.iter_mut().find(|account| account.id == id) else {
            return (effects, Err(Status::aborted("the account went away meanwhile")));
        };
        if !half {
            account.renew_keys(abilities.keys, serial, &mut effects);
        }
        let account = account.clone();
        (effects, Ok(account))
    }

    pub(super) fn revoke(&mut self, abilities: &Abilities, id: &str) -> Done<()> {
        if id.is_empty() {
            return (vec![], Err(Status::invalid_argument("account_id is empty")));
        }
        self.remove_accounts(abilities, |account| account.id == id)
    }

    pub(super) fn revoke_by_name(&mut self, abilities: &Abilities, name: &str, wanted: &Access) -> Done<()> {
        self.remove_accounts(abilities, |account| account.name == name && account.wanted == *wanted)
    }

    pub(super) fn lose_account(&mut self, id: &str) -> bool {
        !self.drop_accounts(|account| account.id == id).is_empty()
    }

    fn drop_accounts(&mut self, which: impl Fn(&Account) -> bool) -> Vec<Effect> {
        let (gone, kept) = std::mem::take(&mut self.accounts).into_iter().partition(which);
        self.accounts = kept;
        let gone: Vec<Account> = gone;
        gone.into_iter().map(|account| Effect::Deleted { id: account.id, name: account.name }).collect()
    }

    fn remove_accounts(&mut self, abilities: &Abilities, which: impl Fn(&Account) -> bool) -> Done<()> {
        let effects = self.drop_accounts(which);
        if effects.is_empty() && abilities.not_found_when_absent {
            return (effects, Err(Status::not_found("no such account")));
        }
        (effects, Ok(()))
    }
}

impl Account {
    fn renew_keys(&mut self, keys: Keys, serial: u64, effects: &mut Vec<Effect>) {
        if !self.wanted.by_key() || (keys == Keys::Same && !self.keys.is_empty()) {
            return;
        }
        if keys == Keys::Rotating {
            effects.extend(self.keys.drain(..).map(|(key, _)| Effect::KeyVoided { key }));
        }
        let key = format!("{CANARY}-key-{serial}-of-{}", self.id);
        effects.push(Effect::KeyMade { key: key.clone() });
        self.keys.push((key.clone(), format!("secret-of-{key}")));
    }
}
