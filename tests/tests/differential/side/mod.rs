//! One of the two servers: sends calls to it and remembers what it said.

mod book;
mod clean;
mod normal;
mod resolve;
pub(crate) mod watch;

use std::{fmt::Write as _, time::Duration};

use http_body_util::BodyExt as _;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{call::Call, kinds::KINDS};
use book::Book;

/// How long an answer may take; most take milliseconds.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// Changes an answer, to see whether that is noticed.
pub(crate) type Distortion = fn(&Call, &mut Value);

/// A server, as one sequence of calls sees it.
pub(crate) struct Side {
    client: Client,
    book: Book,
    distortion: Option<Distortion>,
}

impl Side {
    /// All names of the sequence begin with `prefix`.
    pub(crate) fn new(client: Client, prefix: &str, distortion: Option<Distortion>) -> Self {
        Self { client, book: Book::new(prefix), distortion }
    }

    /// Sends `call`, the `number`th of its sequence, and returns the answer with names in place of what only this
    /// server knows.
    pub(crate) async fn send(&mut self, number: usize, call: &Call) -> Value {
        let mut answer = self.ask(number, call).await;
        if let Some(distort) = self.distortion {
            distort(call, &mut answer);
        }
        answer
    }

    async fn ask(&mut self, number: usize, call: &Call) -> Value {
        // A patch is tried on what the cache has, and warns of that even if the object is gone.
        if call.method == "PATCH" || call.query.iter().any(|(name, _)| *name == "resourceVersion") {
            self.catch_up(number, call).await;
        }
        let request = self.request(number, call);
        let response = match timeout(ANSWERS_WITHIN, self.client.send(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return json!({ "failed": error.to_string() }),
            Err(_) => return json!({ "failed": "no answer in time" }),
        };
        let (head, body) = response.into_parts();
        let Ok(body) = body.collect().await else {
            return json!({ "failed": "the answer broke off" });
        };
        let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        let header = |name: &str| -> Vec<Value> {
            let values = head.headers.get_all(name).iter();
            values.map(|value| self.book.text(&String::from_utf8_lossy(value.as_bytes())).into()).collect()
        };
        json!({
            "code": head.status.as_u16(),
            "type": header("content-type"),
            "warnings": header("warning"),
            "body": self.book.answer(&text),
        })
    }

    /// What a server answers from its cache may be old, unless it was asked before for what is newest.
    async fn catch_up(&mut self, number: usize, call: &Call) {
        let query = vec![("limit", "1".to_owned())];
        let newest = Call { method: "GET", path: collection(&call.path), query, ..Call::default() };
        let request = self.request(number, &newest);
        if let Ok(Ok(response)) = timeout(ANSWERS_WITHIN, self.client.send(request)).await {
            let _ = response.into_body().collect().await;
        }
    }

    fn request(&self, number: usize, call: &Call) -> http::Request<Body> {
        let mut uri = self.book.resolve(number, &call.path);
        for (n, (name, value)) in call.query.iter().enumerate() {
            let value = resolve::encode(&self.book.resolve(number, value));
            write!(uri, "{}{name}={value}", if n == 0 { '?' } else { '&' }).unwrap();
        }
        let mut request = http::Request::builder().method(call.method).uri(uri);
        let headers =
            [("accept", call.accept), ("content-type", call.content_type), ("user-agent", call.user_agent)];
        for (name, value) in headers {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request.body(self.book.body(number, &call.body).into_bytes().into()).unwrap()
    }

    /// Compares managedFields from now on, too.
    pub(crate) fn with_managed_fields(mut self, compared: bool) -> Self {
        self.book.managed_fields = compared;
        self
    }

    /// The names of all resourceVersions seen, in the order of the versions.
    pub(crate) fn order(&self) -> Vec<String> {
        self.book.order()
    }
}

/// The path of all objects of the kind that a path is about. Only lists make a cache catch up.
fn collection(path: &str) -> String {
    let steps: Vec<&str> = path.split('/').collect();
    let is_plural = |step: &&str| KINDS.iter().any(|kind| kind.plural == *step);
    let end = steps.iter().rposition(is_plural).map_or(steps.len(), |last| last + 1);
    steps[..end].join("/")
}
