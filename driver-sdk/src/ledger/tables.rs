//! What a ledger's file holds for the names of one kind, and each change of it, inside of a transaction.

use std::str::FromStr;

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};

use super::entry::{Entry, Token};
use super::error::LedgerError;
use crate::ownership::fingerprint::Fingerprint;

/// Fingerprint, token, id.
type Row = (&'static str, &'static str, Option<&'static str>);
type ByName = TableDefinition<'static, &'static str, Row>;
/// From an id to its name.
type ById = TableDefinition<'static, &'static str, &'static str>;

/// Where the names of one kind are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tables {
    by_name: &'static str,
    by_id: &'static str,
}

pub(super) const BUCKETS: Tables = Tables { by_name: "buckets", by_id: "bucket ids" };
pub(super) const ACCOUNTS: Tables = Tables { by_name: "accounts", by_id: "account ids" };

impl Tables {
    fn by_name(self) -> ByName {
        TableDefinition::new(self.by_name)
    }

    fn by_id(self) -> ById {
        TableDefinition::new(self.by_id)
    }

    pub(super) fn make(self, write: &WriteTransaction) -> Result<(), redb::TableError> {
        write.open_table(self.by_name())?;
        write.open_table(self.by_id())?;
        Ok(())
    }

    pub(super) fn find<I: FromStr>(
        self,
        read: &ReadTransaction,
        name: &str,
    ) -> Result<Option<Entry<I>>, LedgerError> {
        get(&read.open_table(self.by_name())?, name)
    }

    pub(super) fn name_of(self, read: &ReadTransaction, id: &str) -> Result<Option<String>, LedgerError> {
        Ok(read.open_table(self.by_id())?.get(id)?.map(|name| name.value().to_owned()))
    }

    pub(super) fn insert(
        self,
        write: &WriteTransaction,
        name: &str,
        request: &Fingerprint,
        token: &Token,
    ) -> Result<(), LedgerError> {
        let request = request.to_string();
        write.open_table(self.by_name())?.insert(name, (request.as_str(), token.as_str(), None))?;
        Ok(())
    }

    pub(super) fn record<I: AsRef<str> + FromStr>(
        self,
        write: &WriteTransaction,
        name: String,
        id: &str,
    ) -> Result<(), LedgerError> {
        let (mut by_name, mut by_id) = (write.open_table(self.by_name())?, write.open_table(self.by_id())?);
        let Some(entry) = get::<I>(&by_name, &name)? else { return Err(LedgerError::NoEntry { name }) };
        let owner = by_id.get(id)?.map(|owner| owner.value().to_owned());
        if let Some(owner) = owner.filter(|owner| *owner != name) {
            return Err(LedgerError::IdTaken { name, owner });
        }
        if let Some(old) = &entry.id {
            by_id.remove(old.as_ref())?;
        }
        by_id.insert(id, name.as_str())?;
        let request = entry.request.to_string();
        by_name.insert(name.as_str(), (request.as_str(), entry.token.as_str(), Some(id)))?;
        Ok(())
    }

    pub(super) fn forget(self, write: &WriteTransaction, name: &str) -> Result<(), LedgerError> {
        let mut by_name = write.open_table(self.by_name())?;
        let Some(old) = by_name.remove(name)? else { return Ok(()) };
        if let Some(id) = old.value().2 {
            write.open_table(self.by_id())?.remove(id)?;
        }
        Ok(())
    }
}

fn get<I: FromStr>(
    by_name: &impl ReadableTable<&'static str, Row>,
    name: &str,
) -> Result<Option<Entry<I>>, LedgerError> {
    let Some(row) = by_name.get(name)? else { return Ok(None) };
    let (request, token, id) = row.value();
    let damaged = || LedgerError::Damaged { name: name.to_owned() };
    Ok(Some(Entry {
        request: request.parse().map_err(|_| damaged())?,
        token: Token::known(token),
        id: id.map(str::parse).transpose().map_err(|_| damaged())?,
    }))
}
