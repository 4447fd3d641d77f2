//! PUT.

use proptest::prelude::*;

use super::{Target, agent, edits, target, write_query};
use crate::{
    call::{Body, Call, Edit, Seen},
    kinds::Kind,
};

/// Replaces an object by what was read, with changes.
pub(super) fn update(kind: &'static Kind) -> BoxedStrategy<Call> {
    replace(kind, "", edits::some(edits::edit(kind), 3))
}

/// Replaces the status; for some kinds there is no such thing.
pub(super) fn update_status(kind: &'static Kind) -> BoxedStrategy<Call> {
    replace(kind, "/status", edits::some(edits::status_edit(kind), 3))
}

fn replace(
    kind: &'static Kind,
    below: &'static str,
    changes: BoxedStrategy<Vec<Edit>>,
) -> BoxedStrategy<Call> {
    let back = prop_oneof![12 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    target(kind)
        .prop_flat_map(|target| (edits::freshness(&target), Just(target)))
        .prop_flat_map(move |(fresh, target)| {
            (Just(target), Just(fresh), changes.clone(), back.clone(), write_query(), agent())
        })
        .prop_map(move |(target, fresh, changes, back, query, user_agent)| Call {
            method: "PUT",
            path: target.path() + below,
            query,
            content_type: Some("application/json"),
            user_agent,
            body: body(&target, back, [fresh, changes].concat()),
            ..Call::default()
        })
        .boxed()
}

fn body(target: &Target, back: usize, edits: Vec<Edit>) -> Body {
    Body::Seen(Seen { id: target.id(), back, otherwise: target.object(), edits })
}
