//! One request's way through the proxy.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response, header, uri::PathAndQuery};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::action::{Action, Fate};
use super::body::{Body, Cut, passed_on};
use super::log::Recorder;
use super::request::{Request, Verb};
use super::upstream::Forwarder;
use super::watches::Watches;
use crate::rule::{Picked, Rules};

pub(super) struct State {
    pub(super) rules: Rules<Request, Arc<Action>>,
    pub(super) log: Recorder,
    pub(super) watches: Arc<Watches>,
    pub(super) upstream: Forwarder,
    /// Cancelled while the proxy plays dead.
    pub(super) alive: std::sync::Mutex<CancellationToken>,
}

impl State {
    fn alive(&self) -> CancellationToken {
        crate::lock(&self.alive).clone()
    }
}

/// Serves until `stop`.
pub(super) async fn accept(state: Arc<State>, listener: TcpListener, stop: CancellationToken) {
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let Ok((stream, _)) = accepted else { continue };
        let alive = state.alive();
        let (state, stop) = (Arc::clone(&state), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = alive.cancelled() => {}
                () = connection(state, stream) => {}
            }
        });
    }
}

async fn connection(state: Arc<State>, stream: TcpStream) {
    // Without it small answers wait 40 ms for an acknowledgement. It fails only on a dead socket.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| exchange(Arc::clone(&state), request));
    let served =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a client's connection ended");
    }
}

/// The exchange goes on in its own task: a client that gives up doesn't take back what it sent.
async fn exchange(state: Arc<State>, request: http::Request<Incoming>) -> Result<Response<Body>, Cut> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    let path = head.uri.path_and_query().cloned().ok_or(Cut)?;
    let seen = Request::new(&head.method, &head.uri, body.clone());
    let wire = Wire { method: head.method, path, headers: head.headers, body };
    tokio::spawn(async move { Exchange::begin(&state, seen).run(wire).await }).await.unwrap_or(Err(Cut))
}

/// A request as it goes out to the API server.
struct Wire {
    method: Method,
    path: PathAndQuery,
    headers: HeaderMap,
    body: Bytes,
}

struct Exchange<'a> {
    state: &'a State,
    seen: Request,
    index: usize,
}

impl<'a> Exchange<'a> {
    fn begin(state: &'a State, seen: Request) -> Self {
        let index = state.log.arrival(seen.clone());
        Self { state, seen, index }
    }

    async fn run(self, wire: Wire) -> Result<Response<Body>, Cut> {
        let answer = match self.state.rules.pick(&self.seen) {
            Some(picked) => self.by_rule(wire, picked).await,
            None => self.forward(wire).await,
        };
        self.state.log.ended(self.index, answer.as_ref().ok().map(|answer| answer.status().as_u16()));
        answer
    }

    async fn by_rule(&self, wire: Wire, picked: Picked<Request, Arc<Action>>) -> Result<Response<Body>, Cut> {
        let Picked { act, rule } = picked;
        for pause in &act.before {
            pause.pass(&self.seen, &rule).await;
        }
        let answer = match &act.fate {
            Fate::Forward => self.forward(wire).await?,
            Fate::Refuse(refusal) => refusal.response(),
            Fate::Cut => return Err(Cut),
        };
        for pause in &act.after {
            pause.pass(&self.seen, &rule).await;
        }
        if act.lose_answer { Err(Cut) } else { Ok(answer) }
    }

    async fn forward(&self, wire: Wire) -> Result<Response<Body>, Cut> {
        let State { log, watches, upstream, .. } = self.state;
        if self.seen.is_relist() {
            watches.relisted(&self.seen.resource);
        }
        log.forwarded(self.index);
        let sent = upstream.send(wire.method, wire.path, wire.headers, wire.body).await;
        let answer = sent.inspect_err(|error| tracing::warn!(%error, "the API server gave no answer"));
        let (mut head, body) = answer.map_err(|_| Cut)?.into_parts();
        log.upstream(self.index, head.status.as_u16());
        head.headers.remove(header::CONNECTION);
        head.headers.remove(header::TRANSFER_ENCODING);
        let body = if self.seen.verb == Verb::Watch && head.status.is_success() {
            watches.body(&self.seen.resource, body)
        } else {
            passed_on(body)
        };
        Ok(Response::from_parts(head, body))
    }
}
