//! One call's way through the driver.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use super::abilities::{Abilities, Busy};
use super::acting::{self, Seen};
use super::answer::Answer;
use super::backend::Backend;
use super::call::{self, Call, Request};
use super::ledger::{Effect, End, Event, Recorder};
use super::script::{Answering, Doing, Step};
use crate::lock;
use crate::rule::{Picked, Rules, Shared};

/// Metadata by which a status code above 16 gets past tonic, which has no words for it.
pub(super) const RAW_CODE: &str = "sim-raw-code";

/// Everything that outlives connections and restarts.
pub(super) struct Core {
    pub(super) abilities: Mutex<Abilities>,
    pub(super) backend: Mutex<Backend>,
    pub(super) ledger: Recorder,
    pub(super) rules: Rules<Call, Arc<Step>>,
    /// Is asked about each call before the rules are.
    director: OnceLock<Director>,
    /// What `cosi-not-after-ns` is counted by.
    clock: OnceLock<BootClock>,
    /// One process life of the driver; cancelled by a kill.
    pub(super) process: Mutex<CancellationToken>,
    /// The connections of that life.
    pub(super) connections: Mutex<CancellationToken>,
    turns: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
    arrivals: Mutex<usize>,
    accepted: AtomicUsize,
}

/// Says what is to be done with a call; `None`: what the rules say.
pub(super) type Director = Box<dyn Fn(&Call) -> Option<Step> + Send + Sync>;

/// Nanoseconds since the machine's boot.
pub(super) type BootClock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The right to work for a name, which ends with the call: by its answer, or when the client gives up on a call that hangs.
type Turn = Option<OwnedMutexGuard<()>>;

impl Core {
    pub(super) fn new(abilities: Abilities) -> Self {
        Self {
            abilities: Mutex::new(abilities),
            backend: Mutex::default(),
            ledger: Recorder::new(),
            rules: Rules::default(),
            director: OnceLock::new(),
            clock: OnceLock::new(),
            process: Mutex::new(CancellationToken::new()),
            connections: Mutex::new(CancellationToken::new()),
            turns: Mutex::default(),
            arrivals: Mutex::default(),
            accepted: AtomicUsize::new(0),
        }
    }

    /// There is one director at most: the first stays.
    pub(super) fn direct(&self, director: Director) {
        let _ = self.director.set(director);
    }

    /// By which clock senders say how long a call is of use.
    pub(super) fn set_clock(&self, clock: BootClock) {
        let _ = self.clock.set(clock);
    }

    pub(super) fn abilities(&self) -> Abilities {
        lock(&self.abilities).clone()
    }

    pub(super) fn process(&self) -> CancellationToken {
        lock(&self.process).clone()
    }

    pub(super) fn connections(&self) -> CancellationToken {
        lock(&self.connections).clone()
    }

    pub(super) fn connected(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn cut_connections(&self) {
        std::mem::take(&mut *lock(&self.connections)).cancel();
    }

    /// The process ends: no running call does anything any more, but what is to land later still lands.
    pub(super) fn kill(&self) {
        self.ledger.note("killed");
        lock(&self.process).cancel();
        self.cut_connections();
    }

    pub(super) fn revive(&self) {
        *lock(&self.process) = CancellationToken::new();
        lock(&self.turns).clear();
        self.ledger.note("started");
    }

    /// The work goes on in its own task: a client that gives up doesn't end it.
    pub(super) async fn serve(
        self: &Arc<Self>,
        request: Request,
        metadata: &MetadataMap,
    ) -> Result<Answer, Status> {
        let call = self.arrival(request, metadata);
        let mut ending = Ending { core: Arc::clone(self), call: call.number, end: End::Gone };
        let (core, process) = (Arc::clone(self), self.process());
        let work = tokio::spawn(async move { process.run_until_cancelled(core.work(call)).await });
        let Ok(Some((_turn, Some(answer)))) = work.await else {
            // Hanging, or the connection is going down and no answer may get out before it does.
            return pending().await;
        };
        ending.end = match &answer {
            Ok(_) => End::Answered { code: 0, message: String::new() },
            Err(status) => End::Answered { code: raw_code(status), message: status.message().to_owned() },
        };
        answer
    }

    fn arrival(&self, request: Request, metadata: &MetadataMap) -> Call {
        let mut name = request.name().to_owned();
        if let Some(known) = lock(&self.backend).names.get(request.id()) {
            name.clone_from(known);
        }
        // Numbers and ledger lines in the same order.
        let mut arrivals = lock(&self.arrivals);
        let call = Call {
            number: *arrivals,
            at: self.ledger.now(),
            rpc: request.rpc(),
            name,
            id: request.id().to_owned(),
            request,
            timeout: call::timeout(metadata),
            not_after_ns: call::not_after_ns(metadata),
        };
        *arrivals += 1;
        self.ledger.write(Event::Arrived(call.clone()));
        call
    }

    async fn work(self: Arc<Self>, call: Call) -> (Turn, Option<Result<Answer, Status>>) {
        let seen = self.look(&call);
        let directed = self.director.get().and_then(|director| director(&call));
        let picked = directed.map(Arc::new).map(Picked::by_itself).or_else(|| self.rules.pick(&call));
        let turn = match self.turn(&call).await {
            Ok(turn) => turn,
            Err(busy) => return (None, Some(Err(busy))),
        };
        if self.is_too_late(&call) {
            return (
                turn,
                Some(Err(Status::failed_precondition("the call came later than its sender allows"))),
            );
        }
        let answer = match picked {
            None => Some(self.act(&call, seen, false)),
            Some(Picked { act, rule }) => self.play(call, seen, &act, rule).await,
        };
        if let Some(Ok(answer)) = &answer {
            lock(&self.backend).handed_out.extend(answer.secrets());
        }
        (turn, answer)
    }

    fn is_too_late(&self, call: &Call) -> bool {
        let latest = call.not_after_ns.filter(|_| lock(&self.abilities).honours_not_after);
        let now = || self.clock.get().map_or_else(call::boottime_ns, |clock| clock());
        latest.is_some_and(|latest| now() > latest)
    }

    fn look(&self, call: &Call) -> Seen {
        let backend = lock(&self.backend);
        match &call.request {
            Request::Create(_) => Seen { bucket: backend.named(&call.name), account: None },
            Request::Grant(_) => Seen { bucket: None, account: backend.account_named(&call.name) },
            _ => Seen::default(),
        }
    }

    /// The right to work for the call's name, if this driver serialises.
    async fn turn(&self, call: &Call) -> Result<Turn, Status> {
        if call.key().is_empty() {
            return Ok(None);
        }
        let busy = lock(&self.abilities).busy;
        let turn = Arc::clone(lock(&self.turns).entry(call.key().to_owned()).or_default());
        match busy {
            Busy::Overlap => Ok(None),
            Busy::Wait => Ok(Some(turn.lock_owned().await)),
            Busy::Abort => {
                let busy = |_| Status::aborted("another call for that name is running");
                turn.try_lock_owned().map(Some).map_err(busy)
            }
        }
    }

    async fn play(
        self: &Arc<Self>,
        call: Call,
        seen: Seen,
        step: &Step,
        rule: Arc<Shared<Call>>,
    ) -> Option<Result<Answer, Status>> {
        for pause in &step.before {
            pause.pass(&call, &rule).await;
        }
        let result = match step.doing {
            Doing::Do => self.act(&call, seen, false),
            Doing::Half => self.act(&call, seen, true),
            Doing::Not => Err(Status::unknown("nothing done")),
            Doing::Later(after) => {
                tokio::spawn(Arc::clone(self).land_later(call.clone(), seen, after, Arc::clone(&rule)));
                Err(Status::unknown("to be done later"))
            }
        };
        for pause in &step.after {
            pause.pass(&call, &rule).await;
        }
        self.answer(&step.answering, result)
    }

    async fn land_later(
        self: Arc<Self>,
        call: Call,
        seen: Seen,
        after: Option<Duration>,
        rule: Arc<Shared<Call>>,
    ) {
        match after {
            Some(after) => tokio::time::sleep(after).await,
            None => rule.released().await,
        }
        // Nobody waits for this result; the ledger has it.
        drop(self.act(&call, seen, false));
    }

    fn answer(
        &self,
        answering: &Answering,
        result: Result<Answer, Status>,
    ) -> Option<Result<Answer, Status>> {
        match answering {
            Answering::Honest => return Some(result),
            Answering::Error(code, message) => return Some(Err(error(*code, message))),
            Answering::Nonsense(nonsense) => return Some(result.map(|answer| answer.spoilt(nonsense))),
            Answering::Edited(edit) => return Some(result.map(|answer| answer.edited(edit))),
            Answering::Never => {}
            Answering::CutConnections => self.cut_connections(),
            Answering::Crash => self.kill(),
        }
        None
    }

    /// Does at the backend what is asked, or the half of it.
    fn act(&self, call: &Call, seen: Seen, half: bool) -> Result<Answer, Status> {
        let abilities = self.abilities();
        let mut backend = lock(&self.backend);
        let (effects, result) = acting::act(&mut backend, &abilities, &call.request, seen, half);
        // Under the lock, so that the ledger has the order of the backend.
        for effect in effects {
            self.did(call, effect);
        }
        result
    }

    fn did(&self, call: &Call, effect: Effect) {
        self.ledger.write(Event::Did { call: call.number, effect });
    }
}

fn error(code: i32, message: &str) -> Status {
    let mut status = Status::new(Code::from_i32(code), message);
    if !(0..=16).contains(&code) {
        status.metadata_mut().insert(RAW_CODE, code.into());
    }
    status
}

fn raw_code(status: &Status) -> i32 {
    let raw = status.metadata().get(RAW_CODE).and_then(|code| code.to_str().ok()?.parse().ok());
    raw.unwrap_or(status.code() as i32)
}

/// Writes down how the call ended when its future is done with, by an answer or by being dropped.
struct Ending {
    core: Arc<Core>,
    call: usize,
    end: End,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let end = std::mem::replace(&mut self.end, End::Gone);
        self.core.ledger.write(Event::Ended { call: self.call, end });
    }
}
