//! Watches: opened before or after the calls, read up to an object that is made last.

use std::{collections::VecDeque, time::Duration};

use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use super::Side;
use crate::call::Call;

/// How long to wait for the last event.
const ENDS_WITHIN: Duration = Duration::from_secs(20);
/// The label of the object that ends all watches.
pub(crate) const LAST: &str = "last-of-all";
/// With this, a watch says when it has told what was there at the beginning.
pub(crate) const BOOKMARKS: &str = "allowWatchBookmarks";

/// What a watch on one server sends, line by line.
pub(crate) struct Watching {
    head: Value,
    /// Lines that came before the first call that followed.
    began: VecDeque<String>,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Watching {
    fn failed(why: &str) -> Self {
        let (_, lines) = mpsc::unbounded_channel();
        Self { head: json!({ "failed": why }), began: VecDeque::new(), lines }
    }

    /// What a server has a cache of is watched once the head of the answer is there. What it has no cache of, it first
    /// reads meanwhile: whatever is written before it says that this is done may be told as if it had been there before.
    async fn settle(mut self) -> Self {
        while let Some(line) = self.lines.recv().await {
            let done = serde_json::from_str(&line).is_ok_and(|event| is_end_of_initial_events(&event));
            self.began.push_back(line);
            if done {
                break;
            }
        }
        self
    }

    async fn next(&mut self) -> Option<String> {
        match self.began.pop_front() {
            Some(line) => Some(line),
            None => self.lines.recv().await,
        }
    }
}

impl Side {
    /// Begins to watch, and returns when nothing that is written from now on can be taken for older. What the watch sends
    /// is collected from now on.
    pub(crate) async fn watch(&mut self, call: &Call) -> Watching {
        let watching = self.open(call).await;
        if !call.query.iter().any(|(name, _)| *name == BOOKMARKS) {
            return watching;
        }
        match timeout(ENDS_WITHIN, watching.settle()).await {
            Ok(watching) => watching,
            Err(_) => Watching::failed("the end of the initial events did not come in time"),
        }
    }

    async fn open(&mut self, call: &Call) -> Watching {
        let (sender, lines) = mpsc::unbounded_channel();
        self.catch_up(0, call).await;
        let request = self.request(0, call);
        let response = match timeout(ENDS_WITHIN, self.client.send(request)).await {
            Ok(Ok(response)) => response,
            other => return Watching::failed(&format!("{other:?}")),
        };
        let head = json!({ "code": response.status().as_u16() });
        let mut body = response.into_body();
        tokio::spawn(async move {
            let mut rest: Vec<u8> = Vec::new();
            while let Some(Ok(frame)) = body.frame().await {
                rest.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = rest.drain(..=end).collect();
                    if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        return;
                    }
                }
            }
            let _ = sender.send(String::from_utf8_lossy(&rest).into_owned());
        });
        Watching { head, began: VecDeque::new(), lines }
    }

    /// All that the watch sent about this sequence's objects, up to the last.
    pub(crate) async fn events(&mut self, mut watching: Watching) -> Value {
        let mut events = Vec::new();
        let mut columns = Value::Null;
        loop {
            let line = match timeout(ENDS_WITHIN, watching.next()).await {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(_) => {
                    events.push("the last event did not come in time".into());
                    break;
                }
            };
            let Ok(mut event) = serde_json::from_str::<Value>(&line) else {
                if !line.is_empty() {
                    events.push(self.book.text(&line).into());
                }
                continue;
            };
            // Whether a real server repeats them depends on other watches that it serves. They come with the first event,
            // whosever that is.
            if event["object"]["columnDefinitions"].is_array() {
                let repeated = event["object"]["columnDefinitions"].take();
                columns = if columns.is_null() { repeated } else { columns };
            }
            if !self.is_ours(&event) {
                continue;
            }
            let last = metadata(&event)["labels"]["end"] == LAST && event["type"] == "ADDED";
            events.push(self.event(event));
            if last {
                break;
            }
        }
        json!({ "head": watching.head, "columnDefinitions": columns, "events": events })
    }

    fn is_ours(&self, event: &Value) -> bool {
        let metadata = metadata(event);
        let ours =
            |field: &str| metadata[field].as_str().is_some_and(|name| name.starts_with(&self.book.prefix));
        match event["type"].as_str() {
            // Others come when the server likes.
            Some("BOOKMARK") => metadata["annotations"].is_object(),
            Some("ADDED" | "MODIFIED" | "DELETED") => ours("name") || ours("namespace"),
            _ => true,
        }
    }

    fn event(&mut self, event: Value) -> Value {
        match event {
            Value::Object(mut event) if event.contains_key("object") => {
                let object = event.remove("object").unwrap_or_default();
                event.insert("object".to_owned(), self.book.normal(object));
                Value::Object(event)
            }
            other => self.book.normal(other),
        }
    }
}

fn is_end_of_initial_events(event: &Value) -> bool {
    event["type"] == "BOOKMARK" && metadata(event)["annotations"]["k8s.io/initial-events-end"] == "true"
}

/// Of the object in an event, or in the one row of a table.
fn metadata(event: &Value) -> &Value {
    let object = &event["object"];
    if object["rows"].is_array() { &object["rows"][0]["object"]["metadata"] } else { &object["metadata"] }
}
