//! Watches beside the calls.

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{Target, collection};
use crate::{
    call::{Body, Call},
    kinds::Kind,
    side::watch::{BOOKMARKS, LAST},
};

/// A watch, and what makes it end.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    /// Without the object that ends it.
    pub(crate) call: Call,
    /// Opened after the calls, to see what it makes of the past.
    pub(crate) after: bool,
    kind: &'static Kind,
    /// Whether only the object `x0` is watched.
    one: bool,
}

impl Watch {
    fn last(&self) -> Target {
        let namespace = if self.kind.namespaced { "<pre>-main" } else { "" };
        Target { kind: self.kind, namespace, name: if self.one { "<pre>-x0" } else { "<pre>-zz" } }
    }

    /// The calls that make the last event.
    pub(crate) fn ending(&self) -> Vec<Call> {
        let target = self.last();
        let mut object = target.object();
        object["metadata"]["labels"]["end"] = LAST.into();
        let write = |method, path, content_type, value: Value| Call {
            method,
            path,
            content_type: Some(content_type),
            body: Body::Text(value.to_string()),
            ..Call::default()
        };
        let mut calls = Vec::new();
        if self.one {
            // It may be there, and held.
            let free = json!({ "metadata": { "finalizers": null } });
            calls.push(write("PATCH", target.path(), "application/merge-patch+json", free));
            calls.push(Call { method: "DELETE", path: target.path(), ..Call::default() });
        }
        if self.one && self.kind.plural == "namespaces" {
            let mut freed = self.kind.object();
            freed["metadata"] = json!({ "name": target.name });
            calls.push(write("PUT", target.path() + "/finalize", "application/json", freed));
        }
        calls.push(write("POST", target.collection(), "application/json", object));
        calls
    }
}

/// A watch on objects of this kind.
pub(super) fn watch(kind: &'static Kind) -> BoxedStrategy<Watch> {
    let selectors = select(&["", "", "app=a", "app!=b", "app in (a,c)", "!gone"][..]);
    (
        selectors,
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.4),
        start(kind),
        accept(),
    )
        .prop_map(move |(labels, one, everywhere, after, start, accept)| {
            let namespace = if kind.namespaced && !everywhere { "<pre>-main" } else { "" };
            let mut query = vec![("watch", "true".to_owned())];
            if !labels.is_empty() {
                query.push(("labelSelector", labels.to_owned()));
            }
            if one {
                query.push(("fieldSelector", "metadata.name=<pre>-x0".to_owned()));
            }
            query.extend(start);
            let path = collection(kind, namespace);
            Watch { call: Call { method: "GET", path, query, accept, ..Call::default() }, after, kind, one }
        })
        .boxed()
}

/// Where a watch begins.
fn start(kind: &'static Kind) -> BoxedStrategy<Vec<(&'static str, String)>> {
    let id = format!("{}/{}/x0", kind.tag(), if kind.namespaced { "main" } else { "-" });
    let version = |version: String| vec![("resourceVersion", version)];
    let bookmarks = (BOOKMARKS, "true".to_owned());
    let streaming = [("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan")]
        .map(|(name, value)| (name, value.to_owned()));
    let streaming: Vec<_> = streaming.into_iter().chain([bookmarks.clone()]).collect();
    // Only a bookmark says when the initial events of what has no cache are complete.
    let settled =
        move |start: Vec<_>| [start, if kind.cached() { vec![] } else { vec![bookmarks.clone()] }].concat();
    prop_oneof![
        3 => Just(settled(vec![])),
        2 => Just(settled(version("0".to_owned()))),
        3 => Just(version("<start>".to_owned())),
        2 => (0..4_usize).prop_map(move |back| version(format!("<rv {id} {back}>"))),
        3 => Just(streaming),
        1 => Just(version(before(kind))),
    ]
    .boxed()
}

/// A version that is too old for a watch. Of built-in kinds, a real server remembers all there was since it started,
/// which the embedded one does not: it began with what is there.
fn before(kind: &Kind) -> String {
    if kind.custom { "1".to_owned() } else { "<start>".to_owned() }
}

fn accept() -> BoxedStrategy<Option<&'static str>> {
    prop_oneof![
        8 => Just(None),
        1 => Just(Some("application/json;as=Table;v=v1;g=meta.k8s.io")),
        1 => Just(Some("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")),
    ]
    .boxed()
}
