//! Calls to the driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{NAME, World};
use crate::Failure;
use crate::bucket::{Call, CallOk};
use crate::testing::{CallFault, Fault, Reply, UNSTORABLE};

impl World {
    pub(super) fn ask(&mut self, call: &Call, fault: Option<Fault>) -> Result<CallOk, Failure> {
        let owner = self.lane().state.backend.owner.as_ref();
        let by = owner.map_or_else(|| "nobody".into(), |o| Arc::clone(&o.uid));
        let sought = if let Call::GetExisting { id, .. } = call { id.as_ref() } else { "" };
        let reply = self.call(call, (&NAME.into(), &by), sought, fault)?;
        Ok(match call {
            Call::Create(_) | Call::GetExisting { .. } => bucket(reply),
            Call::Delete { .. } | Call::DeleteByName(_) => CallOk::Deleted,
        })
    }
}

fn bucket(reply: Reply) -> CallOk {
    let protocols = vec![cosi_api::ObjectProtocol::S3];
    let (id, protocols) = match reply.defect {
        Some(CallFault::NoId) => (String::new(), protocols),
        Some(CallFault::BadId) => (format!("{}{UNSTORABLE}", reply.id), protocols),
        Some(CallFault::NoInfo) => (reply.id, Vec::new()),
        _ => (reply.id, protocols),
    };
    CallOk::Bucket { id, protocols, info: BTreeMap::new() }
}
