//! Markers: for which request a bucket was made or was about to be made.

use std::collections::{BTreeMap, BTreeSet};

use redb::{TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::{Ledger, accounts::take_rights};
use crate::store::{error::StoreError, id::BucketId};

/// name → marker as JSON
const MARKERS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("markers");
/// id → name
const NAMES: TableDefinition<'_, &str, &str> = TableDefinition::new("names");

/// What a create asks for; two requests are the same if all three fields are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The idempotency key.
    pub name: String,
    /// Names of the protocols that the bucket must speak.
    pub protocols: BTreeSet<String>,
    /// Class parameters.
    pub parameters: BTreeMap<String, String>,
}

/// Proof that a bucket is ours: the request that it was made for, and the id it got.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) id: BucketId,
    request: Request,
}

impl Marker {
    pub(crate) fn new(request: Request, id: BucketId) -> Self {
        Self { id, request }
    }

    pub(crate) fn name(&self) -> &str {
        &self.request.name
    }

    /// Whether the bucket was made for exactly this request.
    pub(crate) fn answers(&self, request: &Request) -> bool {
        self.request == *request
    }
}

pub(super) fn make_tables(write: &WriteTransaction) -> Result<(), redb::Error> {
    write.open_table(MARKERS)?;
    write.open_table(NAMES)?;
    Ok(())
}

impl Ledger {
    /// The marker under a name.
    pub(crate) fn by_name(&self, name: &str) -> Result<Option<Marker>, StoreError> {
        let markers = self.read()?.open_table(MARKERS).map_err(|e| self.fault(e))?;
        let record = markers.get(name).map_err(|e| self.fault(e))?;
        record.map(|json| serde_json::from_slice(json.value()).map_err(StoreError::Marker)).transpose()
    }

    /// The marker that gave out an id.
    pub(crate) fn by_id(&self, id: &BucketId) -> Result<Option<Marker>, StoreError> {
        let names = self.read()?.open_table(NAMES).map_err(|e| self.fault(e))?;
        let name = names.get(id.as_str()).map_err(|e| self.fault(e))?.map(|name| name.value().to_owned());
        name.map_or(Ok(None), |name| self.by_name(&name))
    }

    /// Writes a marker for a bucket that isn't there yet. Nobody has rights on it: those left from an earlier bucket of the
    /// same id go.
    pub(crate) fn put(&self, marker: &Marker) -> Result<(), StoreError> {
        let json = serde_json::to_vec(marker).map_err(StoreError::Marker)?;
        let change = |write: &WriteTransaction| -> Result<(), redb::Error> {
            take_rights(write, &marker.id)?;
            write.open_table(MARKERS)?.insert(marker.name(), json.as_slice())?;
            write.open_table(NAMES)?.insert(marker.id.as_str(), marker.name())?;
            Ok(())
        };
        self.write(|write| change(write).map_err(|e| self.fault(e)))
    }

    /// Forgets a bucket that is gone: its marker, if it has one, and all rights on it.
    pub(crate) fn forget(&self, id: &BucketId, marker: Option<&Marker>) -> Result<(), StoreError> {
        let change = |write: &WriteTransaction| -> Result<(), redb::Error> {
            take_rights(write, id)?;
            if let Some(marker) = marker {
                write.open_table(MARKERS)?.remove(marker.name())?;
                write.open_table(NAMES)?.remove(marker.id.as_str())?;
            }
            Ok(())
        };
        self.write(|write| change(write).map_err(|e| self.fault(e)))
    }
}
