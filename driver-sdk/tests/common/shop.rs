//! A backend that chooses the ids, and does badly when a test says so.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::sync::{Arc, Mutex, MutexGuard};

use cosi_driver_sdk::{BucketId, Chosen, DriverError, Token, async_trait};
use tempfile::TempDir;
use tokio::sync::{Barrier, Notify};

/// A folder for a ledger that dies often: in memory where there is such a place, since no test here cuts the power.
pub fn quick_folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// What goes wrong at a call to the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Not done, and answered so.
    Refused,
    /// Done, but the answer is lost.
    Lost,
    /// Answered as failed, and done later.
    Late,
    /// The driver dies before the call gets to the backend.
    DiedBefore,
    /// The driver dies when the backend has done it.
    DiedAfter,
}

impl Fault {
    pub const ALL: [Self; 5] = [Self::Refused, Self::Lost, Self::Late, Self::DiedBefore, Self::DiedAfter];
}

/// What a call does to the backend, put off.
type Late = Box<dyn FnOnce(&mut State) + Send>;

#[derive(Default)]
struct State {
    /// By id: the token that it bears.
    things: BTreeMap<String, String>,
    next_id: u32,
    /// How many things there were at most.
    most: usize,
    calls: usize,
    faults: Vec<(usize, Fault)>,
    late: Vec<Late>,
}

/// Clones are the same backend.
#[derive(Clone, Default)]
pub struct Shop {
    state: Arc<Mutex<State>>,
    died: Arc<Notify>,
    meet: Option<Arc<Barrier>>,
    searches_lag: bool,
}

impl Shop {
    /// Each fault at the call of that number.
    pub fn failing(faults: Vec<(usize, Fault)>) -> Self {
        let shop = Self::default();
        shop.fail(faults);
        shop
    }

    /// Makes only when so many are asked for at once.
    pub fn meeting(callers: usize) -> Self {
        Self { meet: Some(Arc::new(Barrier::new(callers))), ..Self::default() }
    }

    /// Finds nothing by token, however long it has been there; by id it does.
    pub fn lagging() -> Self {
        Self { searches_lag: true, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// From now on, counted anew.
    pub fn fail(&self, faults: Vec<(usize, Fault)>) {
        let mut state = self.state();
        state.faults = faults;
        state.calls = 0;
    }

    pub fn mend(&self) {
        self.fail(vec![]);
    }

    /// What is late happens now.
    pub fn land(&self) {
        let mut state = self.state();
        for effect in std::mem::take(&mut state.late) {
            effect(&mut state);
        }
    }

    pub fn ids(&self) -> Vec<String> {
        self.state().things.keys().cloned().collect()
    }

    /// How many there were at once, at most.
    pub fn most(&self) -> usize {
        self.state().most
    }

    pub fn put_foreign(&self, id: &str) {
        self.state().things.insert(id.to_owned(), "somebody's".to_owned());
    }

    pub fn lose(&self, id: &str) {
        self.state().things.remove(id).unwrap();
    }

    /// What comes of the driver's work, unless the driver dies in it.
    pub async fn unless_dead<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.died.notified() => None,
        }
    }

    async fn call<T>(&self, effect: impl FnOnce(&mut State) -> T + Send + 'static) -> Result<T, DriverError> {
        let fault = {
            let mut state = self.state();
            let number = state.calls;
            state.calls += 1;
            state.faults.iter().find(|(call, _)| *call == number).map(|(_, fault)| *fault)
        };
        let failed = || Err(DriverError::unavailable("the backend failed"));
        match fault {
            None => Ok(effect(&mut self.state())),
            Some(Fault::Refused) => failed(),
            Some(Fault::Lost) => {
                effect(&mut self.state());
                failed()
            }
            Some(Fault::Late) => {
                self.state().late.push(Box::new(|state| drop(effect(state))));
                failed()
            }
            Some(Fault::DiedBefore) => self.die().await,
            Some(Fault::DiedAfter) => {
                effect(&mut self.state());
                self.die().await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        pending().await
    }
}

#[async_trait]
impl Chosen<BucketId> for Shop {
    async fn find(&self, token: &Token) -> Result<Vec<BucketId>, DriverError> {
        let token = if self.searches_lag { String::new() } else { token.to_string() };
        self.call(move |state| {
            let found = state.things.iter().filter(|(_, bears)| **bears == token);
            found.map(|(id, _)| id.parse().unwrap()).collect()
        })
        .await
    }

    async fn exists(&self, id: &BucketId) -> Result<bool, DriverError> {
        let id = id.to_string();
        self.call(move |state| state.things.contains_key(&id)).await
    }

    async fn make(&self, token: &Token) -> Result<BucketId, DriverError> {
        if let Some(meet) = &self.meet {
            meet.wait().await;
        }
        let token = token.to_string();
        self.call(move |state| {
            // Later ids come first, so that nothing depends on their order.
            let id = format!("{:04}", 9999 - state.next_id);
            state.next_id += 1;
            state.things.insert(id.clone(), token);
            state.most = state.most.max(state.things.len());
            id.parse().unwrap()
        })
        .await
    }

    async fn delete(&self, id: &BucketId) -> Result<(), DriverError> {
        let id = id.to_string();
        self.call(move |state| drop(state.things.remove(&id))).await
    }
}
