//! POST.

use proptest::prelude::*;

use super::{Target, agent, edits, target, write_query};
use crate::{
    call::{Body, Call, Edit},
    kinds::Kind,
};

/// Creates an object: two times of three a valid one.
pub(super) fn create(kind: &'static Kind) -> BoxedStrategy<Call> {
    let changes = prop_oneof![
        4 => Just(Vec::new()),
        2 => edits::some(edits::metadata(), 2),
        3 => edits::some(edits::edit(kind), 3),
    ];
    (target(kind), naming(), changes, write_query(), agent())
        .prop_map(|(target, naming, changes, query, user_agent)| Call {
            method: "POST",
            path: target.collection(),
            query,
            content_type: Some("application/json"),
            user_agent,
            body: body(&target, &[naming, changes].concat()),
            ..Call::default()
        })
        .boxed()
}

/// Mostly creates a valid object first of all, for the other calls to be about.
pub(super) fn valid(kind: &'static Kind) -> BoxedStrategy<Option<Call>> {
    let namespace = if kind.namespaced { "<pre>-main" } else { "" };
    let target = Target { kind, namespace, name: "<pre>-x0" };
    proptest::option::weighted(0.9, Just(plain(&target))).boxed()
}

/// Creates just this.
pub(super) fn plain(target: &Target) -> Call {
    Call {
        method: "POST",
        path: target.collection(),
        content_type: Some("application/json"),
        body: body(target, &[]),
        ..Call::default()
    }
}

fn body(target: &Target, changes: &[Edit]) -> Body {
    let mut object = target.object();
    for change in changes {
        change.apply(&mut object);
    }
    Body::Text(object.to_string())
}

/// Other names than the target's.
fn naming() -> BoxedStrategy<Vec<Edit>> {
    let edit = |at: &str, to: Option<&str>| Edit { at: format!("/metadata/{at}"), to: to.map(Into::into) };
    prop_oneof![
        30 => Just(Vec::new()),
        3 => Just(vec![edit("generateName", Some("<pre>-g<n>-")), edit("name", None)]),
        1 => Just(vec![edit("generateName", Some("<pre>-Bad<n>_")), edit("name", None)]),
        1 => Just(vec![edit("name", None)]),
        1 => Just(vec![edit("name", Some("<pre>-Bad_Name"))]),
        1 => Just(vec![edit("name", Some("<pre>-<long 250>"))]),
        1 => Just(vec![edit("name", Some("<pre>.dotted"))]),
        1 => Just(vec![edit("namespace", None)]),
    ]
    .boxed()
}
