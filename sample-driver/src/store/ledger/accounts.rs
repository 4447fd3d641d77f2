//! Accounts on disk: who asked for each, its key pair, and what it may do with which bucket.

use std::collections::BTreeSet;

use redb::{ReadableTable as _, TableDefinition, WriteTransaction};
use s3s::auth::SecretKey;
use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::store::{
    account::{Account, AccountRequest, KeyPair, Scope, granted},
    error::{GrantError, StoreError},
    id::BucketId,
};

/// account → record as JSON
const ACCOUNTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("accounts");
/// access key → account
const KEYS: TableDefinition<'_, &str, &str> = TableDefinition::new("keys");
/// bucket, account → may read, may write. Apart from the accounts, because it ends with the bucket.
const RIGHTS: TableDefinition<'_, (&str, &str), (bool, bool)> = TableDefinition::new("rights");

/// An account as it is stored. Without `Debug`: the secret is in it.
#[derive(Serialize, Deserialize)]
struct Record {
    request: AccountRequest,
    access_key: String,
    secret: String,
}

impl From<Record> for Account {
    fn from(Record { request, access_key, secret }: Record) -> Self {
        Self { request, key: KeyPair { access_key, secret: secret.into() } }
    }
}

fn encode(account: &Account) -> Result<Vec<u8>, StoreError> {
    let KeyPair { access_key, secret } = &account.key;
    let record = Record {
        request: account.request.clone(),
        access_key: access_key.clone(),
        secret: secret.expose().to_owned(),
    };
    serde_json::to_vec(&record).map_err(|_| StoreError::Account)
}

/// What is wrong with a record isn't told: it may quote the secret.
fn decode(json: &[u8]) -> Result<Account, StoreError> {
    serde_json::from_slice::<Record>(json).map(Account::from).map_err(|_| StoreError::Account)
}

pub(super) fn make_tables(write: &WriteTransaction) -> Result<(), redb::Error> {
    write.open_table(ACCOUNTS)?;
    write.open_table(KEYS)?;
    write.open_table(RIGHTS)?;
    Ok(())
}

/// Takes the rights on one bucket from everybody.
pub(super) fn take_rights(write: &WriteTransaction, bucket: &BucketId) -> Result<(), redb::Error> {
    let (first, beyond) = (bucket.as_str(), format!("{bucket}\0"));
    write.open_table(RIGHTS)?.retain_in((first, "")..(beyond.as_str(), ""), |_, _| false)?;
    Ok(())
}

impl Ledger {
    /// Writes the account for `request`, or finds the one that is there, with rights on those of its buckets that are there.
    ///
    /// Whether they are is asked inside the transaction: the one by which a delete takes rights away comes before or after it
    /// as a whole, so none are left on a bucket that is gone.
    pub(crate) fn grant(
        &self,
        request: &AccountRequest,
        exists: impl Fn(&BucketId) -> Result<bool, StoreError>,
    ) -> Result<KeyPair, GrantError> {
        self.write(|write| {
            let (mut there, mut absent) = (Vec::new(), None);
            for bucket in request.buckets.keys() {
                if exists(bucket)? { there.push(bucket) } else { absent = Some(bucket) }
            }
            let account = granted(self.find(write, &request.name)?, request, absent)?;
            let record = encode(&account)?;
            put_account(write, &account, &record, &there).map_err(|e| self.fault(e))?;
            Ok(account.key)
        })
    }

    /// Removes an account with its key and its rights, if it is there and `wanted`.
    pub(crate) fn revoke(
        &self,
        name: &str,
        wanted: impl FnOnce(&AccountRequest) -> bool,
    ) -> Result<(), StoreError> {
        self.write(|write| match self.find(write, name)? {
            Some(account) if wanted(&account.request) => {
                remove_account(write, &account).map_err(|e| self.fault(e))
            }
            _ => Ok(()),
        })
    }

    fn find(&self, write: &WriteTransaction, name: &str) -> Result<Option<Account>, StoreError> {
        let accounts = write.open_table(ACCOUNTS).map_err(|e| self.fault(e))?;
        let record = accounts.get(name).map_err(|e| self.fault(e))?;
        record.map(|json| decode(json.value())).transpose()
    }

    /// The secret that belongs to an access key.
    pub(crate) fn secret(&self, access_key: &str) -> Result<Option<SecretKey>, StoreError> {
        let Some(name) = self.holder(access_key)? else { return Ok(None) };
        let accounts = self.read()?.open_table(ACCOUNTS).map_err(|e| self.fault(e))?;
        let record = accounts.get(name.as_str()).map_err(|e| self.fault(e))?;
        record.map(|json| decode(json.value()).map(|account| account.key.secret)).transpose()
    }

    /// What the holder of an access key may do with a bucket; nothing, unless it was granted.
    pub(crate) fn scope(&self, access_key: &str, bucket: &BucketId) -> Result<Scope, StoreError> {
        let Some(name) = self.holder(access_key)? else { return Ok(Scope::default()) };
        let rights = self.read()?.open_table(RIGHTS).map_err(|e| self.fault(e))?;
        let found = rights.get((bucket.as_str(), name.as_str())).map_err(|e| self.fault(e))?;
        let scope = found.map(|right| right.value()).map(|(read, write)| Scope { read, write });
        Ok(scope.unwrap_or_default())
    }

    fn holder(&self, access_key: &str) -> Result<Option<String>, StoreError> {
        let keys = self.read()?.open_table(KEYS).map_err(|e| self.fault(e))?;
        let found = keys.get(access_key).map_err(|e| self.fault(e))?;
        Ok(found.map(|name| name.value().to_owned()))
    }

    #[cfg(test)]
    pub(crate) fn key_of(&self, name: &str) -> Result<Option<KeyPair>, StoreError> {
        let accounts = self.read()?.open_table(ACCOUNTS).map_err(|e| self.fault(e))?;
        let record = accounts.get(name).map_err(|e| self.fault(e))?;
        record.map(|json| decode(json.value()).map(|account| account.key)).transpose()
    }

    /// Names of all accounts, sorted.
    pub(crate) fn account_names(&self) -> Result<Vec<String>, StoreError> {
        let accounts = self.read()?.open_table(ACCOUNTS).map_err(|e| self.fault(e))?;
        let all = accounts.iter().map_err(|e| self.fault(e))?;
        all.map(|entry| Ok(entry.map_err(|e| self.fault(e))?.0.value().to_owned())).collect()
    }

    /// Takes the rights on buckets that aren't there. A crash may have left them, after a bucket was taken away.
    pub(crate) fn take_stale_rights(
        &self,
        exists: impl Fn(&BucketId) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        for bucket in self.buckets_with_rights()? {
            if !exists(&bucket)? {
                self.forget(&bucket, None)?;
            }
        }
        Ok(())
    }

    fn buckets_with_rights(&self) -> Result<BTreeSet<BucketId>, StoreError> {
        let rights = self.read()?.open_table(RIGHTS).map_err(|e| self.fault(e))?;
        let mut found = BTreeSet::new();
        for entry in rights.iter().map_err(|e| self.fault(e))? {
            let (key, _) = entry.map_err(|e| self.fault(e))?;
            found.extend(key.value().0.parse::<BucketId>());
        }
        Ok(found)
    }
}

fn put_account(
    write: &WriteTransaction,
    Account { request, key }: &Account,
    record: &[u8],
    there: &[&BucketId],
) -> Result<(), redb::Error> {
    write.open_table(ACCOUNTS)?.insert(request.name.as_str(), record)?;
    write.open_table(KEYS)?.insert(key.access_key.as_str(), request.name.as_str())?;
    let mut rights = write.open_table(RIGHTS)?;
    for (bucket, scope) in request.buckets.iter().filter(|(bucket, _)| there.contains(bucket)) {
        rights.insert((bucket.as_str(), request.name.as_str()), (scope.read, scope.write))?;
    }
    Ok(())
}

fn remove_account(write: &WriteTransaction, account: &Account) -> Result<(), redb::Error> {
    let name = account.request.name.as_str();
    write.open_table(ACCOUNTS)?.remove(name)?;
    write.open_table(KEYS)?.remove(account.key.access_key.as_str())?;
    let mut rights = write.open_table(RIGHTS)?;
    for bucket in account.request.buckets.keys() {
        rights.remove((bucket.as_str(), name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I7.
    #[test]
    fn a_record_that_cannot_be_read_is_not_quoted() {
        for record in [r#""canary""#, r#"{"request":"canary"}"#, r#"{"secret":["canary"]}"#] {
            let error = decode(record.as_bytes()).unwrap_err();
            assert!(!format!("{error:?} {}", crate::chain::chain(&error)).contains("canary"));
        }
    }
}
