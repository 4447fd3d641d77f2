//! The way from a sidecar to the API server, and back.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cosi_apiserver::AnswerBody;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use kube::client::Body;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tower::{Service, ServiceExt as _};

use super::environment::Life;
use super::{Sort, World};
use crate::bugs::{Bug, is, loosened};
use crate::oracle::Facts;
use crate::schedule::{ApiFault, Death, Fault};
use crate::trace::Who;

/// How long a client library keeps a write that it repeats by itself.
const LIBRARY: Duration = Duration::from_secs(90);

/// One sidecar's connection.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    life: Life,
}

/// Nobody answers.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the connection broke")]
pub(super) struct Broken;

/// A body whose connection may break.
pub(super) type WireBody = UnsyncBoxBody<Bytes, Broken>;

/// An answer of which all arrives.
pub(super) fn whole(answer: Response<AnswerBody>) -> Response<WireBody> {
    answer.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}

impl Service<Request<Body>> for Wire {
    type Response = Response<WireBody>;
    type Error = Broken;
    type Future = BoxFuture<'static, Result<Self::Response, Broken>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.clone().serve(request).boxed()
    }
}

/// A request, whole.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
}

impl Letter {
    /// What it is about, after the group: `buckets/bc-1/status`.
    fn subject(&self) -> &str {
        let path = self.head.uri.path();
        path.split_once("/v1alpha2/").or_else(|| path.split_once("/v1/")).map_or(path, |(_, rest)| rest)
    }

    /// Whether it follows changes, or lists objects to begin with that.
    fn looks(&self) -> bool {
        let path = self.head.uri.path();
        self.head.method == Method::GET
            && (self.watches() || path.ends_with("/buckets") || path.ends_with("/bucketaccesses"))
    }

    fn watches(&self) -> bool {
        self.head.uri.query().is_some_and(|query| query.contains("watch="))
    }

    fn is_about_the_lease(&self) -> bool {
        self.head.uri.path().contains("/leases")
    }

    pub(crate) fn is_about_a_status(&self) -> bool {
        self.head.uri.path().ends_with("/status")
    }

    pub(crate) fn is_about_an_event(&self) -> bool {
        self.head.uri.path().contains("/events")
    }

    /// The leader's Lease, and Events, which nothing depends on.
    pub(crate) fn is_beside_the_work(&self) -> bool {
        self.is_about_the_lease() || self.is_about_an_event()
    }
}

impl Wire {
    pub(super) fn new(life: Life) -> Self {
        Self { life }
    }

    pub(super) async fn serve<B: http_body::Body>(
        self,
        request: Request<B>,
    ) -> Result<Response<WireBody>, Broken> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Broken)?.to_bytes();
        let body = loosened(head.uri.path(), body);
        self.pass(Letter { head, body }).await
    }

    async fn pass(self, letter: Letter) -> Result<Response<WireBody>, Broken> {
        let Life { world, process, .. } = &self.life;
        if letter.looks() {
            return world.look(*process, letter).await;
        }
        if letter.is_beside_the_work() {
            world.hold(*process).await;
            let answer = if letter.is_about_the_lease() {
                self.ask_about_the_lease(letter).await
            } else {
                Ok(world.deliver(*process, letter).await)
            };
            world.hold(*process).await;
            return answer.map(whole);
        }
        let sort = if letter.head.method == Method::GET { Sort::Read } else { Sort::Write };
        world.before_request(*process, sort);
        let fault = world.step(sort);
        if world.runs_in_circles() {
            return std::future::pending().await;
        }
        world.hold(*process).await;
        let answer = self.meet(fault, letter).await;
        world.hold(*process).await;
        answer.map(whole)
    }

    async fn ask_about_the_lease(&self, letter: Letter) -> Result<Response<AnswerBody>, Broken> {
        let Life { world, process, .. } = &self.life;
        if world.is_cut_off(*process) {
            return Err(Broken);
        }
        let fault = world.lock().lease_fault.take();
        match fault {
            Some(fault) => {
                world.disturb();
                self.go_wrong(fault, letter).await
            }
            None => Ok(world.deliver(*process, letter).await),
        }
    }

    /// The request meets its fault.
    async fn meet(&self, fault: Option<Fault>, letter: Letter) -> Result<Response<AnswerBody>, Broken> {
        let Life { world, process, .. } = &self.life;
        match fault {
            Some(Fault::Api(fault)) => self.go_wrong(fault, letter).await,
            Some(Fault::Death(death)) => {
                if death != Death::Before {
                    world.deliver(*process, letter).await;
                }
                world.kill(*process);
                std::future::pending().await
            }
            Some(Fault::Pause(pause)) => {
                world.make_drowsy(*process, pause);
                Ok(world.deliver(*process, letter).await)
            }
            Some(Fault::Freeze(pause)) => {
                world.stand_still(*process, pause);
                let (is_result, deaths) = (letter.is_about_a_status(), world.lock().facts.deaths);
                // It leaves, whatever becomes of who waits for its answer.
                let landing = world.land_later(*process, letter, pause, move |facts| {
                    // A process may have ended by then, and another one have begun something.
                    facts.overtaken |= is_result && facts.deaths > deaths;
                });
                landing.await.map_err(|_| Broken)
            }
            Some(Fault::Call(_)) | None => Ok(world.deliver(*process, letter).await),
        }
    }

    async fn go_wrong(&self, fault: ApiFault, letter: Letter) -> Result<Response<AnswerBody>, Broken> {
        let Life { world, process, .. } = &self.life;
        match fault {
            ApiFault::Lost => Err(Broken),
            ApiFault::AnswerLost => {
                world.deliver(*process, letter).await;
                Err(Broken)
            }
            ApiFault::Refused(code) => {
                if is(Bug::LibraryRetries) && matches!(code, 429 | 503 | 504) {
                    world.land_later(*process, letter, LIBRARY, |_| ());
                }
                Ok(refusal(code))
            }
            ApiFault::DoneBut(code) => {
                world.deliver(*process, letter).await;
                Ok(refusal(code))
            }
            ApiFault::Later(after) => {
                world.land_later(*process, letter, after, |_| ());
                Ok(refusal(504))
            }
            ApiFault::Slow(by) => {
                let answer = world.deliver(*process, letter).await;
                sleep(by).await;
                Ok(answer)
            }
            ApiFault::Overtaken => {
                world.act(crate::schedule::Act::Label);
                Ok(world.deliver(*process, letter).await)
            }
        }
    }
}

impl World {
    /// The request is done so much later, whatever becomes of its process, and what is known then is noted before.
    fn land_later(
        self: &Arc<Self>,
        process: usize,
        letter: Letter,
        after: Duration,
        note: impl FnOnce(&mut Facts) + Send + 'static,
    ) -> JoinHandle<Response<AnswerBody>> {
        let (world, under_way) = (Arc::clone(self), self.under_way());
        tokio::spawn(async move {
            sleep(after).await;
            world.disturb();
            note(&mut world.lock().facts);
            let answer = world.deliver(process, letter).await;
            drop(under_way);
            answer
        })
    }

    /// The request is done at the API server.
    pub(super) async fn deliver(self: &Arc<Self>, process: usize, letter: Letter) -> Response<AnswerBody> {
        let line = letter.clone();
        let Letter { head, body } = letter;
        let writes = head.method != Method::GET;
        if writes {
            self.before_write(&line);
        }
        let Ok(answer) = self.api.clone().oneshot(Request::from_parts(head, Full::new(body))).await;
        self.note(&line.body);
        let text = if writes { String::from_utf8_lossy(&line.body) } else { "".into() };
        self.tell_of(
            Who::Sidecar(process),
            Who::ApiServer,
            format_args!(
                "{} {}{} → {} {}",
                line.head.method,
                line.subject(),
                if line.watches() { "?watch" } else { "" },
                answer.status().as_u16(),
                Brief(&text),
            ),
        );
        if writes {
            self.after_write(&line, answer.status());
        }
        if writes && line.is_about_the_lease() && answer.status().is_success() {
            self.check_tenures(process);
        }
        answer
    }
}

/// So much of a body as a person needs; nothing of a Secret's.
struct Brief<'a>(&'a str);

impl std::fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.contains("\"data\"") || self.0.contains("stringData") {
            return f.write_str("{…credentials…}");
        }
        if let Some((_, event)) = self.0.split_once("\"reason\":\"").filter(|_| self.0.contains("\"Event\""))
        {
            return f.write_str(event.split('"').next().unwrap_or_default());
        }
        let end = self.0.char_indices().nth(160).map_or(self.0.len(), |(at, _)| at);
        f.write_str(self.0.get(..end).unwrap_or_default())
    }
}

/// An answer of the API server by which nothing was done.
pub(super) fn refusal(code: u16) -> Response<AnswerBody> {
    let reason = match code {
        400 => "BadRequest",
        403 => "Forbidden",
        409 => "Conflict",
        410 => "Expired",
        422 => "Invalid",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": "by schedule",
    });
    let mut response = Response::new(Full::new(Bytes::from(status.to_string())).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    response
}
