//! A driver and the backend behind it. The backend's list of buckets is what the oracles look at.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::NAME;
use crate::bucket::{Call, CallOk};
use crate::{Code, Failure, Rpc, Time, Uid};

/// What makes an id unusable for the API, though the driver knows what it means.
pub(super) const UNSTORABLE: &str = " with blanks";

/// Which kind of driver it is.
#[allow(clippy::struct_excessive_bools, reason = "independent traits of drivers")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriverKind {
    /// The backend chooses the ids.
    pub(crate) opaque: bool,
    /// It has the optional RPC.
    pub(crate) by_name: bool,
    /// It answers ABORTED while a call for the name is at work; else calls overlap.
    pub(crate) serialises: bool,
    /// A breach of the protocol: it answers NOT_FOUND to the deletion of what is gone.
    pub(crate) not_found: bool,
}

impl DriverKind {
    pub(crate) const GOOD: Self = Self { opaque: false, by_name: true, serialises: false, not_found: false };
    pub(crate) const OPAQUE: Self = Self { opaque: true, ..Self::GOOD };
    pub(crate) const BARE: Self = Self { by_name: false, ..Self::GOOD };
    pub(crate) const OPAQUE_BARE: Self = Self { opaque: true, ..Self::BARE };
    pub(crate) const SERIAL: Self = Self { serialises: true, ..Self::GOOD };
    pub(crate) const SERIAL_OPAQUE_BARE: Self = Self { serialises: true, ..Self::OPAQUE_BARE };
    pub(crate) const NOT_FOUND: Self = Self { not_found: true, ..Self::GOOD };
    pub(crate) const NOT_FOUND_BARE: Self = Self { not_found: true, ..Self::BARE };
    pub(crate) const ALL: [Self; 8] = [
        Self::GOOD,
        Self::OPAQUE,
        Self::BARE,
        Self::OPAQUE_BARE,
        Self::SERIAL,
        Self::SERIAL_OPAQUE_BARE,
        Self::NOT_FOUND,
        Self::NOT_FOUND_BARE,
    ];
}

/// A bucket at the backend.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// For whom; `None` if not by a Create of ours.
    pub(crate) by: Option<Uid>,
    /// Making it was broken off.
    pub(crate) half: bool,
}

/// What the backend will do, decided when the request arrived.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Make { id: String, by: Uid, half: bool },
    Remove(String),
    RemoveAll,
    Nothing,
}

/// Work that goes on though the call has ended at the sidecar.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) rpc: Rpc,
    pub(crate) work: Work,
    pub(crate) lands: Time,
    /// How many processes have died since it was sent.
    pub(crate) crashes: u32,
}

impl Running {
    /// A deletion that is at work while its object is released by a second process, which dies, too: nobody knows of it
    /// any more when the same name comes up again within the grace. This is the price of not holding every deletion up
    /// after a restart, and the design record says so.
    pub(crate) fn outlived_memory(&self) -> bool {
        self.crashes >= 2 && self.rpc == Rpc::DeleteBucket
    }
}

#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) kind: DriverKind,
    /// The ledger: every bucket that is there.
    pub(crate) buckets: BTreeMap<String, Made>,
    pub(crate) running: Vec<Running>,
    /// UIDs that had two buckets at a time.
    pub(crate) doubled: Vec<Uid>,
    /// Buckets taken away, with the owner that they had.
    pub(crate) removed: Vec<(String, Option<Uid>)>,
    /// All ids that this backend ever gave.
    pub(crate) given: BTreeSet<String>,
    /// A call that outlived all memory of it took something away.
    pub(crate) forgetful: bool,
    /// What it always refuses.
    pub(crate) refuses: Option<(Rpc, Code)>,
    /// A defect of the driver: delete-by-name takes what Create refuses.
    pub(crate) takes_foreign: bool,
    ids: u32,
}

impl Backend {
    pub(crate) fn new(kind: DriverKind) -> Self {
        let mut backend = Self {
            kind,
            buckets: BTreeMap::new(),
            running: Vec::new(),
            doubled: Vec::new(),
            removed: Vec::new(),
            given: BTreeSet::new(),
            forgetful: false,
            refuses: None,
            takes_foreign: false,
            ids: 0,
        };
        backend.add_foreign(super::EXISTING);
        backend
    }

    pub(crate) fn add_foreign(&mut self, id: &str) {
        self.buckets.insert(id.to_owned(), Made { by: None, half: false });
        self.given.insert(id.to_owned());
    }

    fn own(&self) -> Option<String> {
        self.buckets.iter().find(|(_, made)| made.by.is_some()).map(|(id, _)| id.clone())
    }

    /// What the driver answers to a request that arrives now, and what it does then.
    pub(crate) fn take(&mut self, call: &Call, by: &Uid) -> (Result<CallOk, Failure>, Work) {
        if self.kind.serialises && !self.running.is_empty() {
            return (refused(Code::Aborted), Work::Nothing);
        }
        if let Some((_, code)) = self.refuses.filter(|(rpc, _)| *rpc == call.rpc()) {
            return (refused(code), Work::Nothing);
        }
        let there = |id: &str| self.buckets.contains_key(&id.replace(UNSTORABLE, ""));
        match call {
            Call::Create(_) if self.buckets.contains_key(NAME) && self.buckets[NAME].by.is_none() => {
                (refused(Code::AlreadyExists), Work::Nothing)
            }
            Call::Create(_) => {
                let id = self.own().unwrap_or_else(|| self.new_id());
                (Ok(bucket(&id)), Work::Make { id, by: by.clone(), half: false })
            }
            Call::GetExisting { id, .. } if there(id) => (Ok(bucket(id)), Work::Nothing),
            Call::GetExisting { .. } => (refused(Code::NotFound), Work::Nothing),
            Call::Delete { id, .. } if self.kind.not_found && !there(id) => {
                (refused(Code::NotFound), Work::Nothing)
            }
            Call::Delete { id, .. } => (Ok(CallOk::Deleted), Work::Remove(id.replace(UNSTORABLE, ""))),
            Call::DeleteByName(_) if !self.kind.by_name => (refused(Code::Unimplemented), Work::Nothing),
            Call::DeleteByName(_) if self.kind.not_found && self.own().is_none() => {
                (refused(Code::NotFound), Work::Nothing)
            }
            Call::DeleteByName(_) => (Ok(CallOk::Deleted), Work::RemoveAll),
        }
    }

    fn new_id(&mut self) -> String {
        if !self.kind.opaque {
            return NAME.to_owned();
        }
        self.ids += 1;
        format!("opaque-{}", self.ids)
    }

    /// Takes effect.
    pub(crate) fn land(&mut self, work: Work) {
        match work {
            Work::Nothing => {}
            Work::Remove(id) => self.remove(&id),
            Work::RemoveAll => {
                let all = self
                    .buckets
                    .iter()
                    .filter(|(id, made)| made.by.is_some() || (self.takes_foreign && *id == NAME));
                let all: Vec<_> = all.map(|(id, _)| id.clone()).collect();
                for id in &all {
                    self.remove(id);
                }
            }
            Work::Make { id, by, half } => {
                let others = self.buckets.iter().any(|(other, made)| *other != id && made.by.is_some());
                if others {
                    self.doubled.push(by.clone());
                }
                self.given.insert(id.clone());
                self.buckets.insert(id, Made { by: Some(by), half });
            }
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(made) = self.buckets.remove(id) {
            self.removed.push((id.to_owned(), made.by));
        }
    }

    pub(crate) fn start(&mut self, rpc: Rpc, work: Work, lands: Time) {
        self.running.push(Running { rpc, work, lands, crashes: 0 });
    }

    /// Lands everything that is due by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(next) =
            self.running.iter().enumerate().filter(|(_, r)| r.lands <= now).min_by_key(|(_, r)| r.lands)
        {
            let due = self.running.remove(next.0);
            let forgotten = due.outlived_memory();
            self.land(due.work);
            if forgotten {
                self.forgetful |= !self.removed.is_empty();
                self.removed.clear();
            }
        }
    }

    pub(crate) fn next_landing(&self) -> Option<Time> {
        self.running.iter().map(|r| r.lands).min()
    }
}

pub(crate) fn refused(code: Code) -> Result<CallOk, Failure> {
    Err(Failure::Answered { code, message: "scripted".to_owned() })
}

pub(crate) fn bucket(id: &str) -> CallOk {
    let protocols = vec![cosi_api::ObjectProtocol::S3];
    CallOk::Bucket { id: id.to_owned(), protocols, info: BTreeMap::new() }
}

/// Just before the end of a stretch of time.
pub(crate) fn just_before(end: Duration) -> Duration {
    end.saturating_sub(Duration::from_nanos(1))
}
