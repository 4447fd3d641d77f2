//! A scripted driver: a real gRPC server on a UNIX socket, in the test's own process, that remembers everything.
//!
//! By default it is a good driver. [`Abilities`] say what kind of driver it is; rules ([`On`], [`Step`]) make it fail at
//! exactly one point. Backend and [`Ledger`] outlive [`ScriptedDriver::kill`].

mod abilities;
mod accounts;
mod acting;
mod answer;
mod backend;
mod call;
mod core;
mod granted;
mod info;
mod ledger;
mod on;
mod oracle;
mod script;
mod service;

pub use abilities::{Abilities, Busy, Ids, Keys};
pub use accounts::Account;
pub use backend::Bucket;
pub use call::{Call, Request, Rpc};
pub use info::Protocol;
pub use ledger::{Effect, End, Event, Ledger};
pub use on::On;
pub use oracle::Violation;
pub use script::{Nonsense, Step};

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::DuplexStream;

use self::core::Core;
use crate::lock;
use crate::rule::{Rule, TimedOut, Window, wait_quiet, wait_until};

/// Part of every credential that this driver hands out, and of nothing else: where it is found, a secret got out.
pub const CANARY: &str = "c4n4ry-bird";

/// The driver. Clones are handles on the same one; it ends with the last of them.
#[derive(Clone)]
pub struct ScriptedDriver {
    core: Arc<Core>,
    life: Arc<Life>,
}

/// What goes when the last handle goes.
struct Life {
    core: Arc<Core>,
    /// Where its socket is, if it has one.
    folder: Option<tempfile::TempDir>,
    foreign: Mutex<BTreeSet<String>>,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.core.process().cancel();
        self.core.cut_connections();
    }
}

#[allow(clippy::must_use_candidate, reason = "some are called for their effect, too")]
impl ScriptedDriver {
    /// Starts a driver on a socket in a folder of its own, which goes with it.
    ///
    /// # Errors
    /// If folder or socket can't be made.
    pub fn start(abilities: Abilities) -> io::Result<Self> {
        let driver = Self::not_started(abilities)?;
        driver.restart()?;
        Ok(driver)
    }

    /// A driver that isn't running yet: there is no socket before [`ScriptedDriver::restart`].
    ///
    /// # Errors
    /// If the folder can't be made.
    pub fn not_started(abilities: Abilities) -> io::Result<Self> {
        let core = Arc::new(Core::new(abilities));
        let folder = tempfile::Builder::new().prefix("cosi-sim-").tempdir()?;
        Ok(Self::with(core, Some(folder)))
    }

    /// A driver without a socket, which runs already; connections are made by [`ScriptedDriver::connect`].
    #[must_use]
    pub fn in_memory(abilities: Abilities) -> Self {
        Self::with(Arc::new(Core::new(abilities)), None)
    }

    fn with(core: Arc<Core>, folder: Option<tempfile::TempDir>) -> Self {
        let life = Life { core: Arc::clone(&core), folder, foreign: Mutex::default() };
        Self { core, life: Arc::new(life) }
    }

    /// A new connection in memory.
    ///
    /// # Errors
    /// If the process does not run.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        if self.core.process().is_cancelled() {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        Ok(service::connect(&self.core))
    }

    /// Lets `director` say what is done with each call; where it says nothing, the rules do. There is one at most.
    pub fn direct(&self, director: impl Fn(&Call) -> Option<Step> + Send + Sync + 'static) {
        self.core.direct(Box::new(director));
    }

    /// Tells `witness` of each event, in order, before it is written down. There is one at most.
    pub fn testify_to(&self, witness: impl Fn(&Event) + Send + Sync + 'static) {
        self.core.ledger.testify_to(Box::new(witness));
    }

    /// Counts `cosi-not-after-ns` by this clock, in nanoseconds, instead of the machine's.
    pub fn set_clock(&self, clock: impl Fn() -> u64 + Send + Sync + 'static) {
        self.core.set_clock(Box::new(clock));
    }

    /// The socket's path.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder().join("cosi.sock")
    }

    /// As `COSI_ENDPOINT` wants it: `unix:///….sock`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    fn folder(&self) -> &Path {
        self.life.folder.as_ref().map_or(Path::new("/"), tempfile::TempDir::path)
    }

    /// The process ends at once: connections break, running calls do nothing more (what is to land later still lands),
    /// and a stale socket file stays.
    pub fn kill(&self) {
        self.core.kill();
    }

    /// As [`ScriptedDriver::kill`], and the socket file is gone, too, as after a clean stop.
    ///
    /// # Errors
    /// If the file can't be removed.
    pub fn stop(&self) -> io::Result<()> {
        self.kill();
        match std::fs::remove_file(self.socket()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Kills the process if it runs, and starts it again over the same backend. Change what it can do before by
    /// [`ScriptedDriver::set`].
    ///
    /// # Errors
    /// If the socket can't be made.
    pub fn restart(&self) -> io::Result<()> {
        self.core.process().cancel();
        self.core.cut_connections();
        self.core.revive();
        match &self.life.folder {
            Some(_) => service::listen(Arc::clone(&self.core), &self.socket()),
            None => Ok(()),
        }
    }

    /// Breaks every connection; the process lives on and takes new ones.
    pub fn cut_connections(&self) {
        self.core.cut_connections();
    }

    /// How many connections were made in all.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.core.accepted()
    }

    /// Changes what the driver can do, at once: `driver.set(|a| a.by_name = false)`.
    pub fn set(&self, change: impl FnOnce(&mut Abilities)) {
        change(&mut lock(&self.core.abilities));
    }

    /// From now on, what matches is treated so.
    pub fn rule(&self, on: On, step: Step) -> Rule<Call> {
        let window = on.window();
        self.add(on, window, vec![step])
    }

    /// The first match gets the first step, the second the second, and so on; later ones are treated right.
    pub fn script(&self, on: On, steps: impl IntoIterator<Item = Step>) -> Rule<Call> {
        let steps: Vec<Step> = steps.into_iter().collect();
        let window = on.window().or_first(steps.len() as u64);
        self.add(on, window, steps)
    }

    fn add(&self, on: On, window: Window, steps: Vec<Step>) -> Rule<Call> {
        let steps = steps.into_iter().map(Arc::new).collect();
        self.core.rules.add(on.to_string(), Box::new(move |call| on.matches(call)), window, steps)
    }

    /// Puts a bucket there that no Create made: for static Buckets, and to prove that it stays.
    pub fn add_foreign(&self, id: &str) {
        lock(&self.life.foreign).insert(id.to_owned());
        lock(&self.core.backend).add_foreign(id);
        self.core.ledger.note(format!("{id} was put there by hand"));
    }

    /// Takes a bucket away behind everybody's back. Says whether it was there.
    pub fn lose_bucket(&self, id: &str) -> bool {
        let there = lock(&self.core.backend).lose(id);
        self.core.ledger.note(format!("{id} was taken away by hand"));
        there
    }

    /// The buckets that are really there, foreign ones too.
    #[must_use]
    pub fn buckets(&self) -> Vec<Bucket> {
        lock(&self.core.backend).buckets.clone()
    }

    /// The bucket that was made for the name.
    #[must_use]
    pub fn bucket(&self, name: &str) -> Option<Bucket> {
        lock(&self.core.backend).named(name)
    }

    /// A copy of everything that happened.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.core.ledger.ledger()
    }

    /// The calls that match, in order of arrival.
    #[must_use]
    pub fn calls(&self, on: &On) -> Vec<Call> {
        self.ledger().calls().filter(|call| on.matches(call)).cloned().collect()
    }

    /// How many calls match.
    #[must_use]
    pub fn count(&self, on: &On) -> usize {
        self.core.ledger.count(|call| on.matches(call))
    }

    /// Waits until `n` matching calls have arrived.
    ///
    /// # Errors
    /// [`TimedOut`], with the ledger in its text.
    pub async fn wait_calls(&self, on: &On, n: usize) -> Result<(), TimedOut> {
        let what =
            || format!("{n} of \"{on}\", there are {}; the ledger:\n{}", self.count(on), self.ledger());
        wait_until(&self.core.ledger.changes, || self.count(on) >= n, what).await
    }

    /// Waits until no call at all has arrived for as long as `silence`: the system under test has settled (I6).
    ///
    /// # Errors
    /// [`TimedOut`], with the ledger in its text.
    pub async fn wait_quiet(&self, silence: Duration) -> Result<(), TimedOut> {
        let what = || format!("{silence:?} without a call; the ledger:\n{}", self.ledger());
        wait_quiet(silence, &self.core.ledger.changes, || self.count(&On::any()), what).await
    }

    /// Waits until exactly these names have a bucket, foreign ones aside.
    ///
    /// # Errors
    /// [`TimedOut`], with the ledger in its text.
    pub async fn wait_holds(&self, names: &[&str]) -> Result<(), TimedOut> {
        let what =
            || format!("buckets for exactly {names:?}; there are {:?}\n{}", self.buckets(), self.ledger());
        wait_until(&self.core.ledger.changes, || self.holds(names), what).await
    }

    /// I1: exactly these names have a bucket, foreign ones aside.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn holds_exactly(&self, names: &[&str]) -> Result<(), Violation> {
        if self.holds(names) { Ok(()) } else { Err(Violation::orphan(&self.buckets(), names, self.ledger())) }
    }

    fn holds(&self, names: &[&str]) -> bool {
        let mut wanted = names.to_vec();
        wanted.sort_unstable();
        let buckets = self.buckets();
        let mut there: Vec<&str> = buckets.iter().filter(|b| !b.foreign).map(|b| b.name.as_str()).collect();
        there.sort_unstable();
        there == wanted
    }

    /// Every invariant that the driver can judge at any time, given the sidecar's `--late-landing-grace`: I2, I4, I8, R3.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check(&self, grace: Duration) -> Result<(), Violation> {
        let ledger = self.ledger();
        ledger.one_call_at_a_time()?;
        ledger.no_double()?;
        ledger.grace_kept(grace)?;
        self.check_foreign()
    }

    /// I4: every bucket that was put there by hand is still there.
    ///
    /// # Errors
    /// A [`Violation`].
    pub fn check_foreign(&self) -> Result<(), Violation> {
        oracle::foreign_untouched(&self.ledger(), &lock(&self.life.foreign))
    }
}

impl fmt::Debug for ScriptedDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptedDriver({})", self.endpoint())
    }
}
