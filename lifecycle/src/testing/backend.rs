//! A driver and the backend behind it. The backend's list of what is there is what the oracles look at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::calls::Answer;
use super::{Asked, CallFault};
use crate::inflight::Role;
use crate::{Code, Failure, Rpc, Time, Uid};

/// What makes an id unusable for the API, though the driver knows what it means.
pub(crate) const UNSTORABLE: &str = " with blanks";

/// What a repeated Grant does to the keys of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// It answers the same one.
    Same,
    /// It makes a new one, which voids the older ones.
    Rotating,
    /// It makes a new one beside the older ones.
    Piling,
}

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
    pub(crate) keys: Keys,
}

impl DriverKind {
    pub(crate) const GOOD: Self =
        Self { opaque: false, by_name: true, serialises: false, not_found: false, keys: Keys::Same };
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

    /// The driver, as one that treats keys so.
    pub(crate) const fn with(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }
}

/// A bucket or an account at the backend.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// Under which name.
    pub(crate) name: Arc<str>,
    /// For whom; `None` if not by a call of ours.
    pub(crate) by: Option<Uid>,
    /// Making it was broken off.
    pub(crate) half: bool,
    /// The keys that work.
    pub(crate) keys: BTreeSet<u32>,
}

/// What the driver answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The id of what is there; empty if it is gone.
    pub(crate) id: String,
    pub(crate) key: u32,
    /// What is wrong with the answer.
    pub(crate) defect: Option<CallFault>,
}

/// What the backend will do, decided when the request arrived.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Make(Make),
    Remove(String),
    RemoveAll(Arc<str>),
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) struct Make {
    id: String,
    name: Arc<str>,
    by: Uid,
    /// `None` if it will be broken off before there is one.
    key: Option<u32>,
}

impl Make {
    pub(super) fn broken_off(self) -> Self {
        Self { key: None, ..self }
    }
}

/// Work that goes on though the call has ended at the sidecar.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) rpc: Rpc,
    pub(crate) name: Arc<str>,
    work: Work,
    pub(super) lands: Time,
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
    /// The ledger: everything that is there.
    pub(crate) things: BTreeMap<String, Made>,
    pub(crate) running: Vec<Running>,
    /// UIDs that had two things at a time.
    pub(crate) doubled: Vec<Uid>,
    /// Things taken away, with the owner that they had.
    pub(super) removed: Vec<(String, Option<Uid>)>,
    /// All ids that this backend ever gave.
    pub(crate) given: BTreeSet<String>,
    /// A call that outlived all memory of it took something away.
    pub(crate) forgetful: bool,
    /// What it always refuses.
    pub(crate) refuses: Option<(Rpc, Code)>,
    /// A defect of the driver: delete-by-name takes what Create refuses.
    pub(super) takes_foreign: bool,
    /// Things that were not made by us, and that we may take away.
    adopted: BTreeSet<String>,
    ids: u32,
    keys: u32,
}

impl Backend {
    pub(super) fn new(kind: DriverKind) -> Self {
        Self {
            kind,
            things: BTreeMap::new(),
            running: Vec::new(),
            doubled: Vec::new(),
            removed: Vec::new(),
            given: BTreeSet::new(),
            forgetful: false,
            refuses: None,
            takes_foreign: false,
            adopted: BTreeSet::new(),
            ids: 0,
            keys: 0,
        }
    }

    pub(crate) fn add_foreign(&mut self, id: &str) {
        let made = Made { name: id.into(), by: None, half: false, keys: BTreeSet::new() };
        self.things.insert(id.to_owned(), made);
        self.given.insert(id.to_owned());
    }

    /// What was there before, and is given to us to keep or to delete.
    pub(crate) fn add_existing(&mut self, id: &str) {
        self.add_foreign(id);
        self.adopted.insert(id.to_owned());
    }

    fn own(&self, name: &str) -> Option<String> {
        let own = |made: &Made| made.by.is_some() && *made.name == *name;
        self.things.iter().find(|(_, made)| own(made)).map(|(id, _)| id.clone())
    }

    /// What the driver answers to a request that arrives now, and what it does then.
    pub(super) fn take(&mut self, asked: &Asked<'_>) -> (Answer, Work) {
        if self.kind.serialises && self.running.iter().any(|r| r.name == *asked.name) {
            return (refused(Code::Aborted), Work::Nothing);
        }
        if let Some((_, code)) = self.refuses.filter(|(rpc, _)| *rpc == asked.rpc) {
            return (refused(code), Work::Nothing);
        }
        let there = |id: &str| self.things.contains_key(&id.replace(UNSTORABLE, ""));
        match asked.role {
            Role::Make => self.make(asked),
            Role::Look if there(asked.sought) => (Ok(reply(asked.sought, 0)), Work::Nothing),
            Role::Look => (refused(Code::NotFound), Work::Nothing),
            Role::UndoById(id) if self.kind.not_found && !there(id) => {
                (refused(Code::NotFound), Work::Nothing)
            }
            Role::UndoById(id) => (Ok(reply("", 0)), Work::Remove(id.replace(UNSTORABLE, ""))),
            Role::UndoByName if !self.kind.by_name => (refused(Code::Unimplemented), Work::Nothing),
            Role::UndoByName if self.kind.not_found && self.own(asked.name).is_none() => {
                (refused(Code::NotFound), Work::Nothing)
            }
            Role::UndoByName => (Ok(reply("", 0)), Work::RemoveAll(Arc::clone(asked.name))),
        }
    }

    fn make(&mut self, asked: &Asked<'_>) -> (Answer, Work) {
        if self.things.get(asked.name.as_ref()).is_some_and(|made| made.by.is_none()) {
            return (refused(Code::AlreadyExists), Work::Nothing);
        }
        let (name, by) = (Arc::clone(asked.name), Arc::clone(asked.by));
        let id = self.own(&name).unwrap_or_else(|| self.new_id(&name));
        if self.kind.keys != Keys::Same {
            self.keys += 1;
        }
        let answer = Ok(reply(&id, self.keys));
        (answer, Work::Make(Make { id, name, by, key: Some(self.keys) }))
    }

    fn new_id(&mut self, name: &str) -> String {
        if !self.kind.opaque {
            return name.to_owned();
        }
        self.ids += 1;
        format!("opaque-{}", self.ids)
    }

    /// Takes effect.
    pub(super) fn land(&mut self, work: Work) {
        match work {
            Work::Nothing => {}
            Work::Remove(id) => self.remove(&id),
            Work::RemoveAll(name) => {
                let takes_foreign = self.takes_foreign;
                let taken = |made: &Made| made.name == name && (made.by.is_some() || takes_foreign);
                let all = self.things.iter().filter(|(_, made)| taken(made));
                let all: Vec<_> = all.map(|(id, _)| id.clone()).collect();
                for id in &all {
                    self.remove(id);
                }
            }
            Work::Make(make) => self.put(make),
        }
    }

    fn put(&mut self, Make { id, name, by, key }: Make) {
        let other = |(i, made): (&String, &Made)| *i != id && made.by.is_some() && made.name == name;
        if self.things.iter().any(other) {
            self.doubled.push(by.clone());
        }
        self.given.insert(id.clone());
        let keys = self.things.get(&id).map(|made| made.keys.clone()).unwrap_or_default();
        let mut made = Made { name, by: Some(by), half: key.is_none(), keys };
        if key.is_some() && self.kind.keys == Keys::Rotating {
            made.keys.clear();
        }
        made.keys.extend(key);
        self.things.insert(id, made);
    }

    fn remove(&mut self, id: &str) {
        if let Some(made) = self.things.remove(id).filter(|_| !self.adopted.contains(id)) {
            self.removed.push((id.to_owned(), made.by));
        }
    }

    pub(super) fn start(&mut self, asked: &Asked<'_>, work: Work, lands: Time) {
        let (rpc, name) = (asked.rpc, Arc::clone(asked.name));
        self.running.push(Running { rpc, name, work, lands, crashes: 0 });
    }

    /// Lands everything that is due by `now`.
    pub(super) fn advance(&mut self, now: Time) {
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

    pub(super) fn next_landing(&self) -> Option<Time> {
        self.running.iter().map(|r| r.lands).min()
    }
}

pub(super) fn refused(code: Code) -> Answer {
    Err(Failure::Answered { code, message: "scripted".to_owned() })
}

fn reply(id: &str, key: u32) -> Reply {
    Reply { id: id.to_owned(), key, defect: None }
}
