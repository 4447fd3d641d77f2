//! What the placeholders in a call stand for.

use std::{fmt::Write as _, sync::LazyLock};

use regex::{Captures, Regex};

use super::book::Book;
use crate::call::{Body, Id, Seen};

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<(pre|dup|n|start|continue|uid ([^<> ]+)|rv ([^<> ]+) (\d+)|long (\d+))>").unwrap()
});

/// The uid of what was never seen.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

impl Book {
    /// `text` as it is for this server.
    pub(super) fn resolve(&self, number: usize, text: &str) -> String {
        PLACEHOLDER.replace_all(text, |found: &Captures<'_>| self.meaning(number, found)).into_owned()
    }

    fn meaning(&self, number: usize, found: &Captures<'_>) -> String {
        let part = |n| found.get(n).map(|part| part.as_str());
        if let Some(id) = part(2) {
            return self.uid(&Id(id.to_owned())).unwrap_or(NOBODY).to_owned();
        }
        if let (Some(id), Some(back)) = (part(3), part(4)) {
            return self.version(&Id(id.to_owned()), back.parse().unwrap()).unwrap_or(&self.start).to_owned();
        }
        if let Some(length) = part(5) {
            return "x".repeat(length.parse().unwrap());
        }
        match part(1) {
            Some("pre") => self.prefix.clone(),
            Some("n") => format!("{number:02}"),
            Some("start") => self.start.clone(),
            Some("continue") => self.token.clone(),
            // A second key of the same name: nothing of the placeholder is left.
            _ => String::new(),
        }
    }

    /// The bytes to send.
    pub(super) fn body(&self, number: usize, body: &Body) -> String {
        match body {
            Body::None => String::new(),
            Body::Text(text) => self.resolve(number, text),
            Body::Seen(seen) => self.changed(number, seen),
        }
    }

    fn changed(&self, number: usize, seen: &Seen) -> String {
        // What never was there gets a name in the text that is resolved below.
        let mut object = self.seen(&seen.id, seen.back).unwrap_or(&seen.otherwise).clone();
        for edit in &seen.edits {
            edit.apply(&mut object);
        }
        self.resolve(number, &object.to_string())
    }
}

/// Percent-encodes a value of a query.
pub(super) fn encode(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").unwrap();
        }
    }
    encoded
}
