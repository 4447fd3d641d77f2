//! Watches: opened before or after the calls, read up to an object that is made last.

use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use super::Side;
use crate::call::Call;

/// How long to wait for the last event.
const ENDS_WITHIN: Duration = Duration::from_secs(20);
/// The label of the object that ends all watches.
pub(crate) const LAST: &str = "last-of-all";

/// What a watch on one server sends, line by line.
pub(crate) struct Watching {
    head: Value,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Side {
    /// Begins to watch. What it sends is collected from now on.
    pub(crate) async fn watch(&mut self, call: &Call) -> Watching {
        let (sender, lines) = mpsc::unbounded_channel();
        if call.query.iter().any(|(name, _)| *name == "resourceVersion") {
            self.catch_up(0, call).await;
        }
        let request = self.request(0, call);
        let response = match timeout(ENDS_WITHIN, self.client.send(request)).await {
            Ok(Ok(response)) => response,
            other => return Watching { head: json!({ "failed": format!("{other:?}") }), lines },
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
        Watching { head, lines }
    }

    /// All that the watch sent about this sequence's objects, up to the last.
    pub(crate) async fn events(&mut self, mut watching: Watching) -> Value {
        let mut events = Vec::new();
        let mut columns = Value::Null;
        loop {
            let line = match timeout(ENDS_WITHIN, watching.lines.recv()).await {
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

/// Of the object in an event, or in the one row of a table.
fn metadata(event: &Value) -> &Value {
    let object = &event["object"];
    if object["rows"].is_array() { &object["rows"][0]["object"]["metadata"] } else { &object["metadata"] }
}
