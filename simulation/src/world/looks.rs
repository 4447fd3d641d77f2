//! Lists and watches: how late they are, how they end, and how they begin anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cosi_apiserver::AnswerBody;
use futures::StreamExt as _;
use futures::stream;
use http::Response;
use http_body::Frame;
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody};
use serde_json::json;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::World;
use super::wire::{Broken, Letter, WireBody, refusal, whole};
use crate::schedule::Look;
use crate::trace::Who;

/// What is known of lists and watches.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Cancelled when all watches end.
    end: CancellationToken,
    /// They ended by an error.
    torn: bool,
    /// How the next look at each kind begins.
    next: BTreeMap<String, Look>,
    /// The oldest list that was given out, by path.
    oldest: BTreeMap<String, Bytes>,
}

impl World {
    /// All watches end, and the next look at each kind begins so.
    pub(super) fn end_watches(&self, look: Look) {
        self.tell(Who::World, format_args!("all watches end; the next look: {look:?}"));
        let mut state = self.lock();
        state.looks.torn = look == Look::Torn;
        std::mem::take(&mut state.looks.end).cancel();
        for kind in ["buckets", "bucketaccesses"] {
            state.looks.next.insert(kind.to_owned(), look);
        }
    }

    /// A list or a watch.
    pub(super) async fn look(
        self: &Arc<Self>,
        process: usize,
        letter: Letter,
    ) -> Result<Response<WireBody>, Broken> {
        self.hold(process).await;
        let path = letter.head.uri.path().to_owned();
        let kind = path.rsplit('/').next().unwrap_or_default().to_owned();
        let watches = letter.head.uri.query().unwrap_or_default().contains("watch=");
        let (next, end) = {
            let mut state = self.lock();
            let next = state.looks.next.get(&kind).copied();
            // A version that is too old stays so until a list gives a new one; what is behind is that list.
            if !(watches && matches!(next, Some(Look::Refused | Look::Stale))) {
                state.looks.next.remove(&kind);
            }
            (next, state.looks.end.clone())
        };
        if let Some(look) = next {
            let failure = match look {
                Look::Unavailable => Some(Ok(refusal(503))),
                Look::Broken => Some(Err(Broken)),
                Look::Refused if watches => Some(Ok(refusal(410))),
                Look::Gone | Look::Stale if watches => Some(Ok(too_old())),
                _ => None,
            };
            if let Some(failure) = failure {
                let what = if watches { "watch" } else { "list" };
                self.tell(Who::Sidecar(process), format_args!("fails to {what} {kind}: {look:?}"));
                return failure.map(whole);
            }
        }
        if next == Some(Look::Stale) {
            let old = self.lock().looks.oldest.get(&path).cloned();
            if let Some(old) = old {
                self.tell(Who::Sidecar(process), format_args!("is given an old list of {kind}"));
                return Ok(whole(Response::new(Full::new(old).boxed_unsync())));
            }
        }
        let answer = self.deliver(process, letter).await;
        if watches {
            return Ok(answer.map(|body| self.late(process, body, end)));
        }
        let (head, body) = answer.into_parts();
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        self.lock().looks.oldest.entry(path).or_insert_with(|| body.clone());
        Ok(whole(Response::from_parts(head, Full::new(body).boxed_unsync())))
    }

    /// The stream of a watch, as late as the schedule says, until all watches end.
    fn late(self: &Arc<Self>, process: usize, body: AnswerBody, end: CancellationToken) -> WireBody {
        let (world, lag) = (Arc::clone(self), self.schedule.lag);
        let frames = BodyStream::new(body).map(move |frame| (Instant::now() + lag, frame));
        let frames = Box::pin(frames.take_until(end.cancelled_owned()));
        let frames = stream::unfold(Some((frames, world)), move |rest| async move {
            let (mut frames, world) = rest?;
            let Some((due, frame)) = frames.next().await else {
                let torn = world.lock().looks.torn;
                return torn.then_some((Err(Broken), None));
            };
            sleep_until(due).await;
            world.hold(process).await;
            let Ok(frame) = frame;
            Some((Ok(Frame::data(frame.into_data().unwrap_or_default())), Some((frames, world))))
        });
        StreamBody::new(frames).boxed_unsync()
    }
}

/// A watch that ends at once, since its version is too old: as the API server says it.
fn too_old() -> Response<AnswerBody> {
    let event = json!({ "type": "ERROR", "object": {
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": 410, "reason": "Expired", "message": "too old resource version, by schedule",
    } });
    Response::new(Full::new(Bytes::from(format!("{event}\n"))).boxed_unsync())
}
