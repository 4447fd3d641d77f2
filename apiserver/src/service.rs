//! The API server as a tower service.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;
use tokio::sync::Notify;

use crate::clock::{Clock, SystemClock, Uids, seconds};
use crate::controllers::Graph;
use crate::http::{Answer, AnswerBody, BODY_MAX, Request, answer};
use crate::registry::{State, established};
use crate::schema::{Catalogue, CatalogueError};
use crate::status::Refusal;
use crate::store::Store;

/// Where the definitions of kinds are stored.
const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// How an API server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where timestamps come from.
    pub clock: Arc<dyn Clock>,
    /// From which uids and generated names follow.
    pub seed: u64,
    /// How many writes can be looked back at. Watches and lists of an older revision are told that it is gone (410).
    pub history: usize,
    /// Whether it is written down who manages which field (`metadata.managedFields`).
    pub managers: bool,
    /// Whether the definitions of the kinds that are served can be read as objects, too.
    pub definitions: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), seed: 0, history: 2000, managers: true, definitions: true }
    }
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) catalogue: Arc<Catalogue>,
    settings: Settings,
    state: Mutex<State>,
    graph: Mutex<Graph>,
    news: Notify,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A write is stored in one step at its end: what is there is sound even if somebody panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what writes, and wakes the watches.
    pub(crate) fn write<T>(&self, act: impl FnOnce(&mut State) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let mut state = self.lock();
        let before = state.store.revision();
        state.expire(self.clock().now());
        let result = act(&mut state);
        let after = state.store.revision();
        drop(state);
        if after != before {
            self.news.notify_waiters();
        }
        result
    }

    /// What the controllers know. It is locked before the state is.
    pub(crate) fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes away what is too old. Every write does that, too.
    pub(crate) fn tidy(&self) {
        // Nothing is refused, since nothing is asked for.
        let _ = self.write(|_| Ok(()));
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.settings.clock
    }

    pub(crate) fn keeps_managers(&self) -> bool {
        self.settings.managers
    }

    /// Told after each write, to those who wait in the order in which they began to.
    pub(crate) fn news(&self) -> &Notify {
        &self.news
    }
}

/// A Kubernetes API server that keeps everything in memory. Clones are the same server.
///
/// # Guarantees
/// Every request gets an answer; none panics. The same requests in the same order, with the same clock and seed, get
/// the same answers. A request is done when its future was polled to its end; nothing goes on afterwards.
///
/// # Cancellation
/// A future that is dropped before its body was read has done nothing.
#[derive(Clone, Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
}

impl ApiServer {
    /// A server with the namespaces that every cluster has, and nothing else.
    ///
    /// # Errors
    /// If a CustomResourceDefinition says something that is not understood.
    pub fn new(settings: Settings) -> Result<Self, CatalogueError> {
        let state = State::new(Store::new(settings.history), Uids::new(settings.seed));
        let shared = Shared {
            catalogue: Catalogue::shared()?,
            settings,
            state: Mutex::new(state),
            graph: Mutex::default(),
            news: Notify::new(),
        };
        let server = Self { shared: Arc::new(shared) };
        server.furnish();
        // Nobody was there to see it: the history begins now, so that no watch can ask for what was before.
        server.compact();
        Ok(server)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The namespaces that every cluster has, and the definitions of the kinds that are served.
    fn furnish(&self) {
        let mut state = self.shared.lock();
        let now = seconds(self.shared.clock().now());
        let all = self.shared.catalogue.definitions();
        let definitions = if self.shared.settings.definitions { all } else { &[] };
        for written in definitions {
            let object = established(written, state.uids.uid(), &now);
            let name = written.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
            state.store.put(&DEFINITIONS.into(), name, object);
        }
        drop(state);
        let path = "/api/v1/namespaces";
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let body = serde_json::json!({ "metadata": { "name": name } }).to_string();
            if let Ok(request) = http::Request::post(path).body(()) {
                let (head, ()) = request.into_parts();
                answer(&self.shared, &Request::new(&head, Bytes::from(body)));
            }
        }
    }

    /// The number of the last write.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.shared.lock().store.revision()
    }

    /// Looks at all objects, as they are stored, without a request.
    pub fn inspect<T>(&self, look: impl FnOnce(&Store) -> T) -> T {
        look(&self.shared.lock().store)
    }

    /// Forgets the history, so that every watch and list of an older revision is told that it is gone.
    pub fn compact(&self) {
        let mut state = self.shared.lock();
        let revision = state.store.revision();
        state.store.compact(revision);
    }
}

impl<B> tower::Service<http::Request<B>> for ApiServer
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let answered = match Limited::new(body, BODY_MAX).collect().await {
                Ok(body) => answer(&shared, &Request::new(&head, body.to_bytes())),
                Err(error) if error.is::<LengthLimitError>() => {
                    Answer::refusal(&Refusal::too_large(BODY_MAX), false)
                }
                Err(_) => Answer::refusal(&Refusal::bad_request("the body ended too early"), false),
            };
            Ok(answered.into_response())
        })
    }
}
