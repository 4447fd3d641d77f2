//! Calls that nobody should make.

use proptest::{prelude::*, sample::select};

use super::target;
use crate::{
    call::{Body, Call},
    kinds::Kind,
};

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"];
const TYPES: &[Option<&str>] = &[
    None,
    Some("application/json"),
    Some("application/merge-patch+json"),
    Some("application/json-patch+json"),
    Some("application/strategic-merge-patch+json"),
    Some("application/apply-patch+yaml"),
    Some("text/plain"),
    Some("nonsense"),
    Some("application/json; charset=utf-8"),
];
const BODIES: &[&str] = &[
    "",
    "{",
    "nonsense",
    "null",
    "[]",
    "[1]",
    "\"x\"",
    "{}",
    "{} {}",
    "{\"kind\": \"Status\", \"apiVersion\": \"v1\"}",
    "{\"metadata\": 1}",
    "{\"metadata\": {\"name\": \"<pre>-x0\"}}",
    "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\"}",
    "a: b",
    "[{\"op\": \"add\"}]",
];
/// Paths that exist nowhere, or not so.
const PATHS: &[&str] = &[
    "/nonsense",
    "/api/v2",
    "/api/v1/nonsense",
    "/apis/nonsense",
    "/apis/nonsense.example/v1",
    "/apis/nonsense.example/v1/things",
    "/apis/objectstorage.k8s.io/v1",
    "/apis/objectstorage.k8s.io/v1/buckets",
    "/apis/objectstorage.k8s.io/v1alpha2/nonsense",
    "/apis/objectstorage.k8s.io/v1alpha2/Buckets",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets//",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/<pre>-x0/",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/<pre>-x0/nonsense",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/<pre>-x0/status/more",
    "/apis/objectstorage.k8s.io/v1alpha2/namespaces/<pre>-main/buckets",
    "/apis/objectstorage.k8s.io/v1alpha2/namespaces/<pre>-main/buckets/<pre>-x0",
    "/apis/objectstorage.k8s.io/v1alpha2/bucketclaims/<pre>-x0",
    "/apis/objectstorage.k8s.io/v1alpha2/namespaces/<pre>-main",
    "/apis/objectstorage.k8s.io/v1alpha2/namespaces//bucketclaims",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/..",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/%2e%2e",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/..%2f..",
    "/apis/objectstorage.k8s.io/v1alpha2/../v1alpha2/buckets/<pre>-x0",
    "/apis/objectstorage.k8s.io/v1alpha2//buckets/<pre>-x0",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/a%00b",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/a%2Fb",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/%",
    "/apis/objectstorage.k8s.io/v1alpha2/buckets/<long 3000>",
    "/api/v1/namespaces/<pre>-main/secrets/<pre>-x0/status",
    "/api/v1/secrets/<pre>-x0",
    "/api/v1/namespaces/<pre>-main/nonsense/x",
    "/api/v1/namespaces/<pre>-main/",
    "/api/v1/namespaces/<pre>-x0/finalize",
];

/// A call with any method, path, type and body.
pub(super) fn nonsense(kind: &'static Kind) -> BoxedStrategy<Call> {
    let sensible = (target(kind), select(&["", "/status"][..]), any::<bool>())
        .prop_map(|(target, below, all)| if all { target.collection() } else { target.path() + below });
    let any = (
        select(METHODS),
        prop_oneof![2 => sensible, 3 => select(PATHS).prop_map(str::to_owned)],
        select(TYPES),
        select(BODIES),
    )
        // A collection is deleted by those who select what is theirs.
        .prop_filter("deletes what is not ours", |(method, path, ..)| {
            *method != "DELETE" || path.contains("<pre>")
        })
        // All objects there are would differ.
        .prop_filter("lists what is not ours", |(method, path, ..)| {
            !["GET", "HEAD"].contains(method) || path.contains("<pre>") || PATHS.contains(&path.as_str())
        })
        .prop_map(|(method, path, content_type, body)| Call {
            method,
            path,
            content_type,
            body: Body::Text(if ["GET", "HEAD"].contains(&method) { "" } else { body }.to_owned()),
            ..Call::default()
        });
    prop_oneof![12 => any, 2 => watching(kind), 1 => huge(kind)].boxed()
}

/// Watches that are refused.
fn watching(kind: &'static Kind) -> BoxedStrategy<Call> {
    let wrong = select(
        &[
            ("resourceVersion", "abc"),
            ("sendInitialEvents", "true"),
            ("sendInitialEvents", "maybe"),
            ("resourceVersionMatch", "NotOlderThan"),
            ("resourceVersionMatch", "Exact"),
            ("labelSelector", "a in ("),
            ("fieldSelector", "nonsense=1"),
            ("continue", "nonsense"),
        ][..],
    );
    (target(kind), wrong)
        .prop_map(|(target, (name, value))| Call {
            method: "GET",
            path: target.collection(),
            query: [("watch", "true"), ("timeoutSeconds", "1"), (name, value)]
                .map(|(name, value)| (name, value.to_owned()))
                .to_vec(),
            ..Call::default()
        })
        .boxed()
}

/// Bodies that are larger than a server takes, or than an object may be.
fn huge(kind: &'static Kind) -> BoxedStrategy<Call> {
    (target(kind), select(&["<long 3300000>", "<long 262200>"][..]))
        .prop_map(|(target, note)| {
            let mut object = target.object();
            object["metadata"]["annotations"] = serde_json::json!({ "note": note });
            Call {
                method: "POST",
                path: target.collection(),
                content_type: Some("application/json"),
                body: Body::Text(object.to_string()),
                ..Call::default()
            }
        })
        .boxed()
}
