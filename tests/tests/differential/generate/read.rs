//! GET of one and of many.

use proptest::{prelude::*, sample::select};

use super::{collection, namespace, target};
use crate::{call::Call, kinds::Kind};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// Ways to ask for the answer.
pub(super) fn accept(partial: &'static str) -> BoxedStrategy<Option<&'static str>> {
    prop_oneof![
        14 => Just(None),
        2 => Just(Some("application/json")),
        3 => Just(Some(TABLE)),
        2 => Just(Some(partial)),
        1 => Just(Some("*/*")),
        1 => Just(Some("text/html")),
        1 => Just(Some("application/json;as=Nonsense;v=v1;g=meta.k8s.io")),
    ]
    .boxed()
}

/// Reads one object.
pub(super) fn get(kind: &'static Kind) -> BoxedStrategy<Call> {
    let partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let version = prop_oneof![8 => Just(None), 1 => Just(Some("0")), 1 => Just(Some("<start>")), 1 => Just(Some("abc"))];
    let status = if kind.status { prop::bool::weighted(0.2).boxed() } else { Just(false).boxed() };
    (target(kind), accept(partial), version, status, include())
        .prop_map(|(target, accept, version, status, include)| Call {
            method: "GET",
            path: target.path() + if status { "/status" } else { "" },
            query: version
                .map(|version| ("resourceVersion", version.to_owned()))
                .into_iter()
                .chain(include)
                .collect(),
            accept,
            ..Call::default()
        })
        .boxed()
}

/// Reads many.
pub(super) fn list(kind: &'static Kind) -> BoxedStrategy<Call> {
    let partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
    (scope(kind), fields(kind), paging(), versions(kind), accept(partial), include())
        .prop_map(|((path, labels), fields, paging, versions, accept, include)| {
            let selectors = [("labelSelector", labels), ("fieldSelector", fields)];
            let selectors = selectors.into_iter().filter(|(_, selector)| !selector.is_empty());
            let query = selectors.chain(paging).chain(versions).chain(include).collect();
            Call { method: "GET", path, query, accept, ..Call::default() }
        })
        .boxed()
}

fn include() -> BoxedStrategy<Option<(&'static str, String)>> {
    let values = select(&["Object", "Metadata", "None", "Nonsense"][..]);
    prop_oneof![9 => Just(None), 1 => values.prop_map(|value| Some(("includeObject", value.to_owned())))]
        .boxed()
}

/// A collection and a label selector. Where other sequences have objects, too, ours are selected.
pub(super) fn scope(kind: &'static Kind) -> BoxedStrategy<(String, String)> {
    let selectors = select(
        &["app=a", "app in (a,c)", "app!=b", "app notin (b)", "!gone", "app", "app==b", "app=a,app!=b"][..],
    );
    let inside = prop_oneof![2 => Just(""), 2 => selectors.clone(), 1 => wrong()];
    let everywhere = collection(kind, "");
    let all =
        prop_oneof![1 => Just(String::new()), 1 => selectors.prop_map(|selector| format!(",{selector}"))]
            .prop_map(move |more| (everywhere.clone(), format!("seq=<pre>{more}")));
    if !kind.namespaced {
        return all.boxed();
    }
    let one = (namespace(kind), inside)
        .prop_map(move |(namespace, selector)| (collection(kind, namespace), selector.to_owned()));
    prop_oneof![4 => one, 1 => all].boxed()
}

fn wrong() -> impl Strategy<Value = &'static str> {
    select(&["app=bad value", "app in ()", "=a", "app in (a", "app>1", "app>x", ",", "a=b=c", "bad key!"][..])
}

/// Selectors by field; those that are not for this kind are refused.
pub(super) fn fields(kind: &'static Kind) -> BoxedStrategy<String> {
    let own: &[&str] = match (kind.plural, kind.version) {
        ("events", "v1") => &[
            "involvedObject.name=<pre>-x0",
            "involvedObject.kind=BucketClaim,involvedObject.namespace=<pre>-main",
            "involvedObject.uid=,reason=Done",
            "type=Normal,reason!=Other",
            "source=me",
            "reportingComponent=me",
        ],
        ("events", _) => &["regarding.name=<pre>-x0", "reason=Done", "type=Warning"],
        ("secrets", _) => &["type=Opaque", "type!=Opaque"],
        ("namespaces", _) => &["status.phase=Active", "status.phase!=Active"],
        _ => &["spec.driverName=a.example", "status.readyToUse=true"],
    };
    let general = &["metadata.name=<pre>-x0", "metadata.name!=<pre>-x0", "metadata.namespace=<pre>-main"][..];
    prop_oneof![
        8 => Just(String::new()),
        2 => select(general).prop_map(str::to_owned),
        1 => select(own).prop_map(str::to_owned),
        1 => select(&["metadata.uid=x", "metadata.name", "nonsense=1", "metadata.name in (a)", "metadata.name==<pre>-x1"][..])
            .prop_map(str::to_owned),
    ]
    .boxed()
}

fn paging() -> BoxedStrategy<Vec<(&'static str, String)>> {
    let limit = |limit: &str| ("limit", limit.to_owned());
    let more = |token: &str| ("continue", token.to_owned());
    prop_oneof![
        10 => Just(vec![]),
        3 => Just(vec![limit("1")]),
        2 => Just(vec![limit("2")]),
        3 => Just(vec![limit("1"), more("<continue>")]),
        2 => Just(vec![more("<continue>")]),
        1 => Just(vec![limit("1"), more("nonsense")]),
        1 => Just(vec![limit("many")]),
        1 => Just(vec![limit("-1")]),
    ]
    .boxed()
}

fn versions(kind: &'static Kind) -> BoxedStrategy<Vec<(&'static str, String)>> {
    let id = format!("{}/{}/x0", kind.tag(), if kind.namespaced { "main" } else { "-" });
    let version = prop_oneof![
        2 => Just("0".to_owned()),
        2 => (0..3_usize).prop_map(move |back| format!("<rv {id} {back}>")),
        1 => Just("<start>".to_owned()),
        1 => Just("abc".to_owned()),
    ];
    let rule = prop_oneof![
        3 => Just(None),
        2 => Just(Some("Exact")),
        2 => Just(Some("NotOlderThan")),
        1 => Just(Some("Nonsense")),
    ];
    let both = (version, rule.clone()).prop_map(|(version, rule)| (Some(version), rule));
    let settings = prop_oneof![
        9 => Just((None, None)),
        4 => both,
        1 => rule.prop_map(|rule| (None, rule)),
    ];
    settings
        .prop_map(|(version, rule)| {
            let version = version.map(|version| ("resourceVersion", version));
            version.into_iter().chain(rule.map(|rule| ("resourceVersionMatch", rule.to_owned()))).collect()
        })
        .boxed()
}
