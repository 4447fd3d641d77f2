//! What is odd about a document: keys that come twice, and fields that nobody knows.

use super::json::{self, Twice};
use crate::schema::{Kind, print};

/// Where an object was read from.
#[derive(Debug, Default)]
pub(crate) struct Source<'a> {
    /// The document, if it is JSON.
    pub(super) text: &'a [u8],
    /// The keys that come twice in it.
    pub(super) doubled: Vec<Twice>,
}

impl Source<'_> {
    /// What is said of keys that come twice or that nobody knows.
    pub(super) fn complaints(&self, kind: &Kind, unknown: &[String]) -> Vec<String> {
        let unheard = |path: &String| format!("unknown field {}", print::quoted(path));
        if !kind.builtin || self.doubled.len() + unknown.len() < 2 {
            return self.doubled.iter().map(Twice::text).chain(unknown.iter().map(unheard)).collect();
        }
        // A real server reads built-in kinds in one go. What it does not know, it does not look into.
        let inside = |path: &str, outer: &String| {
            path.strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let mut told = Vec::new();
        let mut tell = |text: String| {
            if !told.contains(&text) {
                told.push(text);
            }
        };
        let mut seen = Vec::new();
        for path in json::keys(self.text) {
            let twice = self.doubled.iter().find(|twice| twice.path == path && seen.contains(&path));
            if unknown.contains(&path) {
                tell(unheard(&path));
            } else if !unknown.iter().any(|outer| inside(&path, outer)) {
                twice.map(Twice::text).into_iter().for_each(&mut tell);
            }
            seen.push(path);
        }
        unknown.iter().map(unheard).for_each(tell);
        told
    }
}
