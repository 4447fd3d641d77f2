//! A fault-and-count proxy for the API server.
//!
//! It listens with plain HTTP/1.1 on a loopback port, forwards to a real API server (TLS, bearer token), and does what
//! its rules say. It never repeats a request, and streams watches line by line.

mod action;
mod body;
mod log;
mod matching;
mod refusal;
mod request;
mod serve;
mod upstream;
mod watches;

pub use action::Action;
pub use log::{Entry, Log, Mark};
pub use matching::Match;
pub use refusal::Refusal;
pub use request::{Request, Verb};
pub use upstream::{StartError, Upstream};

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::lock;
use crate::rule::{Rule, Rules, TimedOut, Window, wait_quiet, wait_until};
use serve::State;
use watches::Order;

/// The proxy. Clones are handles on the same one; it ends with the last of them.
///
/// # Guarantees
/// Every request is in the log before any rule acts on it. A request is forwarded at most once. What was forwarded is
/// carried through even if the client has gone.
#[derive(Clone)]
pub struct ApiProxy {
    state: Arc<State>,
    address: SocketAddr,
    _stop: Arc<DropGuard>,
}

#[allow(clippy::must_use_candidate, reason = "some are called for their effect, too")]
impl ApiProxy {
    /// Starts a proxy before this API server, on a free loopback port. The API server need not be up yet.
    ///
    /// # Errors
    /// [`StartError`] if the upstream's data can't be used or no port is free.
    pub async fn start(upstream: Upstream) -> Result<Self, StartError> {
        let state = Arc::new(State {
            rules: Rules::default(),
            log: log::Recorder::new(),
            watches: Arc::default(),
            upstream: upstream::Forwarder::new(&upstream)?,
            alive: std::sync::Mutex::default(),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(StartError::Listen)?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let stop = CancellationToken::new();
        tokio::spawn(serve::accept(Arc::clone(&state), listener, stop.clone()));
        Ok(Self { state, address, _stop: Arc::new(stop.drop_guard()) })
    }

    /// The base URL for clients: `http://127.0.0.1:port`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on, what matches is treated so.
    pub fn rule(&self, which: Match, action: Action) -> Rule<Request> {
        let window = which.window();
        self.add(which, window, vec![action])
    }

    /// The first match gets the first action, the second the second, and so on; later ones go through.
    pub fn script(&self, which: Match, actions: impl IntoIterator<Item = Action>) -> Rule<Request> {
        let actions: Vec<Action> = actions.into_iter().collect();
        let window = which.window().or_first(actions.len() as u64);
        self.add(which, window, actions)
    }

    fn add(&self, which: Match, window: Window, actions: Vec<Action>) -> Rule<Request> {
        let title = which.to_string();
        let actions = actions.into_iter().map(Arc::new).collect();
        self.state.rules.add(title, Box::new(move |request| which.matches(request)), window, actions)
    }

    /// How many matching requests have come.
    #[must_use]
    pub fn count(&self, which: &Match) -> usize {
        self.count_since(Mark::START, which)
    }

    /// How many matching requests have come since the mark.
    #[must_use]
    pub fn count_since(&self, mark: Mark, which: &Match) -> usize {
        self.state.log.count(mark, which, |_| true)
    }

    /// How many writes have come, to any resource but leases and events.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.writes_since(Mark::START)
    }

    /// As [`ApiProxy::writes`], since the mark.
    #[must_use]
    pub fn writes_since(&self, mark: Mark) -> usize {
        let aside = |request: &Request| matches!(request.resource.as_str(), "leases" | "events");
        self.count_since(mark, &Match::writes().filter(move |request| !aside(request)))
    }

    /// How many reads have come: gets, lists and watches.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.count(&Match::reads())
    }

    /// This moment, to count from.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.state.log.mark()
    }

    /// A copy of the log.
    #[must_use]
    pub fn log(&self) -> Log {
        self.state.log.log()
    }

    /// Waits until `n` matching requests have come since the mark.
    ///
    /// # Errors
    /// [`TimedOut`], with the log in its text.
    pub async fn wait_count_since(&self, mark: Mark, which: &Match, n: usize) -> Result<(), TimedOut> {
        self.wait(n, which, || self.count_since(mark, which)).await
    }

    /// Waits until `n` matching requests have been done by the API server, whatever the client was told.
    ///
    /// # Errors
    /// [`TimedOut`], with the log in its text.
    pub async fn wait_applied(&self, which: &Match, n: usize) -> Result<(), TimedOut> {
        self.wait(n, which, || self.state.log.count(Mark::START, which, Entry::applied)).await
    }

    /// Waits until no matching request has come for as long as `silence`: the system under test has settled (I6).
    ///
    /// # Errors
    /// [`TimedOut`], with the log in its text.
    pub async fn wait_quiet(&self, which: &Match, silence: Duration) -> Result<(), TimedOut> {
        let what = || format!("{silence:?} without \"{which}\"; the log:\n{}", self.log());
        wait_quiet(silence, &self.state.log.changes, || self.count(which), what).await
    }

    async fn wait(&self, n: usize, which: &Match, count: impl Fn() -> usize) -> Result<(), TimedOut> {
        let what = || format!("{n} of \"{which}\", there are {}; the log:\n{}", count(), self.log());
        wait_until(&self.state.log.changes, || count() >= n, what).await
    }

    /// Breaks the connection of every running watch of the resource, in the middle. Says how many there were.
    pub fn cut_watches(&self, resource: &str) -> usize {
        self.state.watches.order(resource, &Order::Cut)
    }

    /// Ends every running watch of the resource with the error *410 Expired*, so that the client must list again.
    pub fn expire_watches(&self, resource: &str) -> usize {
        let error = json!({ "type": "ERROR", "object": Refusal::new(410).status() });
        self.state.watches.order(resource, &Order::EndWith(line(&error)))
    }

    /// Nothing more comes through watches of the resource, running or new, until [`ApiProxy::resume_watches`]; the
    /// connections stay. Events are not lost but late.
    pub fn stall_watches(&self, resource: &str) {
        self.state.watches.stall(resource);
    }

    /// The end of [`ApiProxy::stall_watches`]: what had piled up comes through.
    pub fn resume_watches(&self, resource: &str) {
        self.state.watches.resume(resource);
    }

    /// Events of the resource (bookmarks aside) are lost until the client lists again: by a list, or by a watch from
    /// the beginning.
    pub fn drop_events(&self, resource: &str) {
        self.state.watches.drop_events(resource);
    }

    /// The events that the API server sent through watches of the resource, dropped ones too, oldest first.
    #[must_use]
    pub fn events(&self, resource: &str) -> Vec<Value> {
        self.state.watches.events(resource)
    }

    /// Sends an event of the test's own (say, an old one out of [`ApiProxy::events`]) through every running watch of
    /// the resource. Says how many there are.
    pub fn inject_event(&self, resource: &str, event: &Value) -> usize {
        self.state.watches.order(resource, &Order::Inject(line(event)))
    }

    /// Plays dead: cuts every connection, and each new one at once, until [`ApiProxy::go_up`].
    pub fn go_down(&self) {
        lock(&self.state.alive).cancel();
    }

    /// The end of [`ApiProxy::go_down`].
    pub fn go_up(&self) {
        *lock(&self.state.alive) = CancellationToken::new();
    }
}

impl fmt::Debug for ApiProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiProxy({})", self.url())
    }
}

fn line(event: &Value) -> Bytes {
    Bytes::from(format!("{event}\n"))
}
