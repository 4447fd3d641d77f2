//! DELETE of one and of many.

use proptest::{option, prelude::*, sample::select};
use serde_json::json;

use super::{read, target};
use crate::{
    call::{Body, Call},
    kinds::Kind,
};

const POLICIES: &[&str] = &["Background", "Foreground", "Orphan", "Nonsense"];

/// Deletes one object.
pub(super) fn delete(kind: &'static Kind) -> BoxedStrategy<Call> {
    target(kind)
        .prop_flat_map(|target| (options(&target.id().0), Just(target)))
        .prop_map(|((query, body), target)| call(target.path(), query, body))
        .boxed()
}

/// Deletes those of this sequence that are selected.
pub(super) fn collection(kind: &'static Kind) -> BoxedStrategy<Call> {
    (read::scope(kind), read::fields(kind), options("buckets/-/x0"))
        .prop_map(|((path, labels), fields, (mut query, body))| {
            let selectors = [("labelSelector", labels), ("fieldSelector", fields)];
            query.extend(selectors.into_iter().filter(|(_, selector)| !selector.is_empty()));
            call(path, query, body)
        })
        .boxed()
}

fn call(path: String, query: Vec<(&'static str, String)>, body: Option<serde_json::Value>) -> Call {
    Call {
        method: "DELETE",
        path,
        query,
        content_type: body.as_ref().map(|_| "application/json"),
        body: body.map_or(Body::None, |body| Body::Text(body.to_string())),
        ..Call::default()
    }
}

type Options = (Vec<(&'static str, String)>, Option<serde_json::Value>);

fn options(id: &str) -> BoxedStrategy<Options> {
    let in_query = prop_oneof![
        12 => Just(vec![]),
        3 => select(POLICIES).prop_map(|policy| vec![("propagationPolicy", policy.to_owned())]),
        1 => select(&["All", "Nonsense"][..]).prop_map(|dry| vec![("dryRun", dry.to_owned())]),
        1 => select(&["0", "10", "-1", "x"][..]).prop_map(|grace| vec![("gracePeriodSeconds", grace.to_owned())]),
        1 => Just(vec![("orphanDependents", "true".to_owned())]),
    ];
    (in_query, option::weighted(0.4, body(id))).boxed()
}

fn body(id: &str) -> BoxedStrategy<serde_json::Value> {
    let uid = prop_oneof![5 => Just(None), 2 => Just(Some(format!("<uid {id}>"))), 1 => Just(Some("wrong".to_owned()))];
    let version = prop_oneof![
        5 => Just(None),
        2 => Just(Some(format!("<rv {id} 0>"))),
        2 => Just(Some(format!("<rv {id} 1>"))),
    ];
    let policy = option::weighted(0.3, select(POLICIES));
    let more = prop_oneof![
        10 => Just(json!({})),
        1 => Just(json!({ "gracePeriodSeconds": 5 })),
        1 => Just(json!({ "dryRun": ["All"] })),
        1 => Just(json!({ "dryRun": ["Nonsense"] })),
        1 => Just(json!({ "orphanDependents": true })),
        1 => Just(json!({ "more": true })),
        1 => Just(json!({ "kind": "Other" })),
        1 => Just(json!({ "kind": null })),
    ];
    (uid, version, policy, more)
        .prop_map(|(uid, version, policy, more)| {
            let mut options = json!({ "kind": "DeleteOptions", "apiVersion": "v1" });
            if uid.is_some() || version.is_some() {
                options["preconditions"] = json!({});
            }
            if let Some(uid) = uid {
                options["preconditions"]["uid"] = uid.into();
            }
            if let Some(version) = version {
                options["preconditions"]["resourceVersion"] = version.into();
            }
            if let Some(policy) = policy {
                options["propagationPolicy"] = policy.into();
            }
            let more = more.as_object().cloned().unwrap_or_default();
            options.as_object_mut().unwrap().extend(more);
            options
        })
        .boxed()
}
