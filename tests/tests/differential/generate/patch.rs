//! PATCH, of all four sorts.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use super::{Target, agent, edits, target, write_query};
use crate::{
    call::{Body, Call, Edit},
    kinds::Kind,
};

/// JSON merge patch.
pub(super) fn merge(kind: &'static Kind) -> BoxedStrategy<Call> {
    patch(kind, "application/merge-patch+json", |kind, below| {
        edits::some(edit(kind, below), 3).prop_map(|edits| tree(&edits)).boxed()
    })
}

/// JSON patch.
pub(super) fn json(kind: &'static Kind) -> BoxedStrategy<Call> {
    patch(kind, "application/json-patch+json", |kind, below| {
        vec(operation(edit(kind, below)), 0..=3).prop_map(Value::Array).boxed()
    })
}

/// Strategic merge patch, which is for built-in kinds only.
pub(super) fn strategic(kind: &'static Kind) -> BoxedStrategy<Call> {
    let directives = [
        r#"{"$patch": "delete"}"#,
        r#"{"$patch": "replace"}"#,
        r#"{"$patch": "nonsense"}"#,
        r#"{"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/one"]}}"#,
        r#"{"metadata": {"$setElementOrder/finalizers": ["example.com/two", "example.com/one"], "finalizers": ["example.com/two"]}}"#,
        r#"{"metadata": {"finalizers": ["example.com/three"]}}"#,
        r#"{"metadata": {"labels": {"$patch": "replace", "app": "b"}}}"#,
        r#"{"metadata": {"ownerReferences": [{"uid": "u-1", "$patch": "delete"}]}}"#,
        r#"{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "three", "uid": "u-3"}]}}"#,
        r#"{"metadata": {"labels": null}}"#,
    ];
    patch(kind, "application/strategic-merge-patch+json", move |kind, below| {
        let plain = edits::some(edit(kind, below), 3).prop_map(|edits| tree(&edits));
        prop_oneof![2 => plain, 1 => select(directives.map(crate::kinds::parse).to_vec())].boxed()
    })
}

/// Server-side apply.
pub(super) fn apply(kind: &'static Kind) -> BoxedStrategy<Call> {
    let manager = prop_oneof![10 => Just(Some("one")), 6 => Just(Some("two")), 1 => Just(None)];
    let force = prop_oneof![4 => Just(None), 3 => Just(Some("true")), 1 => Just(Some("false")), 1 => Just(Some("maybe"))];
    (guarded(kind), below(kind), manager, force)
        .prop_flat_map(move |((target, guard), below, manager, force)| {
            let body = apply_body(&target, below).prop_map(move |body| guarding(body, guard.clone()));
            (Just((target, below, manager, force)), body, write_query())
        })
        .prop_map(|((target, below, manager, force), body, mut query)| {
            query.retain(|(name, _)| *name != "fieldManager");
            query.extend(manager.map(|manager| ("fieldManager", manager.to_owned())));
            query.extend(force.map(|force| ("force", force.to_owned())));
            Call {
                method: "PATCH",
                path: target.path() + below,
                query,
                content_type: Some("application/apply-patch+yaml"),
                body: Body::Text(body.to_string()),
                ..Call::default()
            }
        })
        .boxed()
}

/// The whole object, or parts of it.
fn apply_body(target: &Target, below: &'static str) -> BoxedStrategy<Value> {
    let kind = target.kind;
    let whole = target.object();
    let mut bare =
        json!({ "apiVersion": kind.version, "kind": kind.kind, "metadata": { "name": target.name } });
    let start = prop_oneof![1 => Just(whole), 1 => Just(bare.take())];
    (start, edits::some(edit(kind, below), 2))
        .prop_map(|(mut object, edits)| {
            for edit in &edits {
                edit.apply(&mut object);
            }
            object
        })
        .boxed()
}

fn patch(
    kind: &'static Kind,
    content_type: &'static str,
    body: impl Fn(&'static Kind, &'static str) -> BoxedStrategy<Value> + 'static,
) -> BoxedStrategy<Call> {
    below(kind)
        .prop_flat_map(move |below| (Just(below), guarded(kind), body(kind, below), write_query(), agent()))
        .prop_map(move |(below, (target, guard), body, query, user_agent)| Call {
            method: "PATCH",
            path: target.path() + below,
            query,
            content_type: Some(content_type),
            user_agent,
            body: Body::Text(guarding(body, guard).to_string()),
            ..Call::default()
        })
        .boxed()
}

fn guarded(kind: &'static Kind) -> impl Strategy<Value = (Target, Option<Edit>)> {
    target(kind).prop_flat_map(|target| {
        let guard = edits::guard(&target);
        (Just(target), guard)
    })
}

/// The patch, for one version only.
fn guarding(mut body: Value, guard: Option<Edit>) -> Value {
    match (&mut body, guard) {
        (_, None) => {}
        (Value::Array(operations), Some(guard)) => {
            operations.insert(0, json!({ "op": "test", "path": guard.at, "value": guard.to }));
        }
        (body, Some(guard)) => guard.apply(body),
    }
    body
}

fn below(kind: &'static Kind) -> BoxedStrategy<&'static str> {
    if kind.status {
        prop_oneof![3 => Just(""), 2 => Just("/status")].boxed()
    } else {
        prop_oneof![30 => Just(""), 1 => Just("/status")].boxed()
    }
}

fn edit(kind: &'static Kind, below: &'static str) -> BoxedStrategy<Edit> {
    if below.is_empty() { edits::edit(kind) } else { edits::status_edit(kind) }
}

/// The edits as an object that has nothing else; what they take away is null.
fn tree(edits: &[Edit]) -> Value {
    let mut object = json!({});
    for edit in edits {
        Edit { at: edit.at.clone(), to: Some(edit.to.clone().unwrap_or_default()) }.apply(&mut object);
    }
    object
}

fn operation(edit: BoxedStrategy<Edit>) -> BoxedStrategy<Value> {
    let pointed = (
        edit,
        select(&["add", "add", "replace", "replace", "test", "remove", "copy", "move", "nonsense"][..]),
    );
    let edits = pointed.prop_map(|(edit, op)| match (op, edit.to) {
        ("remove", _) | (_, None) => json!({ "op": "remove", "path": edit.at }),
        ("copy" | "move", Some(_)) => json!({ "op": op, "from": "/metadata/labels/app", "path": edit.at }),
        (_, Some(value)) => json!({ "op": op, "path": edit.at, "value": value }),
    });
    let fixed = [
        r#"{"op": "test", "path": "/metadata/labels/app", "value": "a"}"#,
        r#"{"op": "test", "path": "/metadata/labels/app", "value": "b"}"#,
        r#"{"op": "remove", "path": "/metadata/finalizers/0"}"#,
        r#"{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/three"}"#,
        r#"{"op": "add", "path": "/metadata/annotations/a~1b", "value": "1"}"#,
        r#"{"op": "remove", "path": "/metadata/nothing"}"#,
        r#"{"op": "replace", "path": "/metadata/nothing", "value": 1}"#,
        r#"{"op": "test", "path": "/metadata/nothing", "value": null}"#,
        r#"{"op": "add", "path": "no-slash", "value": 1}"#,
        r#"{"op": "add", "path": "/spec/protocols/7", "value": "S3"}"#,
        r#"{"path": "/spec"}"#,
    ];
    prop_oneof![2 => edits, 1 => select(fixed.map(crate::kinds::parse).to_vec())].boxed()
}
