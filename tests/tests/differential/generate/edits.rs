//! Changes to objects.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use super::Target;
use crate::{
    call::Edit,
    kinds::{Kind, parse},
};

/// Values that fit hardly anywhere.
const JUNK: &str = r#"[null, "", "x", 0, -1, 1.5, 1e30, true, [], {}, ["x"], {"a": "b"}, {"a": 1}, [[]]]"#;

const METADATA: &[(&str, &str)] = &[
    ("/labels/app", r#"["a", "b", null, "", "bad value!", "<long 64>", 1]"#),
    ("/labels/app", r#"["a", "b"]"#),
    (
        "/labels",
        r#"[{"app": "b", "seq": "<pre>"}, {"bad key!": "x"}, {}, {"Example.com/Key": "x"}, {"example.com/": "x"}, {"<long 64>": "x"}]"#,
    ),
    ("/annotations", r#"[{"note": "1"}, {"bad key!": "x"}, {"note": 1}, {}, {"UPPER.example/a": "b"}]"#),
    ("/annotations/note", r#"["1", "2", "", null]"#),
    ("/annotations/note", r#"["1", "2"]"#),
    (
        "/finalizers",
        r#"[["example.com/one"], ["example.com/one", "example.com/two"], ["example.com/two", "example.com/one"], []]"#,
    ),
    ("/finalizers", "[null, []]"),
    (
        "/finalizers",
        r#"[["bad"], ["orphan"], ["foregroundDeletion"], ["example.com/one", "example.com/one"], ["bad name/x"], [1], ["orphan", "foregroundDeletion"]]"#,
    ),
    (
        "/ownerReferences",
        r#"[[{"apiVersion": "v1", "kind": "Secret", "name": "one", "uid": "u-1"}], [],
        [{"apiVersion": "v1", "kind": "Secret", "name": "one", "uid": "u-1", "controller": true, "blockOwnerDeletion": true}],
        [{"apiVersion": "v1", "kind": "Secret", "name": "one", "uid": "u-1", "controller": true},
         {"apiVersion": "v1", "kind": "Secret", "name": "two", "uid": "u-2", "controller": true}],
        [{"apiVersion": "v1", "kind": "Secret", "name": "one"}], [{"apiVersion": "v1", "kind": "Event", "name": "one", "uid": "u-1"}],
        [{"kind": "Secret", "name": "one", "uid": "u-1"}], [{"apiVersion": "v1", "kind": "Secret", "name": "one", "uid": "u-1", "more": 1}], [{}]]"#,
    ),
];

/// Fields of metadata that a server sets itself.
const SYSTEM: &[(&str, &str)] = &[
    ("/generation", "[0, 7, -1]"),
    ("/uid", r#"["<uid buckets/-/x0>", "wrong", ""]"#),
    ("/resourceVersion", r#"["", "abc", "999999999", "0", "1", "<start>"]"#),
    ("/name", r#"["<pre>-other", ""]"#),
    ("/namespace", r#"["<pre>-other", "default", ""]"#),
    ("/generateName", r#"["<pre>-h<n>-"]"#),
    ("/deletionTimestamp", r#"["2026-01-02T03:04:05Z", null, "soon"]"#),
    ("/deletionGracePeriodSeconds", "[0, 5, null]"),
    ("/creationTimestamp", r#"["2026-01-02T03:04:05Z", null, "soon"]"#),
    ("/selfLink", r#"["/x"]"#),
    ("/managedFields", "[[], [{}], null]"),
    ("/more", "[1]"),
];

/// A change to anything in an object of this kind.
pub(super) fn edit(kind: &'static Kind) -> BoxedStrategy<Edit> {
    prop_oneof![
        12 => field(kind, ""),
        8 => metadata(),
        2 => system(),
        1 => junk(kind),
        1 => top(kind),
    ]
    .boxed()
}

/// A change below /status, mostly.
pub(super) fn status_edit(kind: &'static Kind) -> BoxedStrategy<Edit> {
    prop_oneof![
        5 => field(kind, "/status"),
        6 => Just(Edit { at: "/status".to_owned(), to: Some(kind.valid_status()) }),
        2 => edit(kind),
    ]
    .boxed()
}

/// A change to metadata that anybody may make.
pub(super) fn metadata() -> BoxedStrategy<Edit> {
    from_table(METADATA, "/metadata")
}

fn system() -> BoxedStrategy<Edit> {
    from_table(SYSTEM, "/metadata")
}

fn field(kind: &'static Kind, below: &'static str) -> BoxedStrategy<Edit> {
    let table: Vec<_> = kind.fields.iter().copied().filter(|(at, _)| at.starts_with(below)).collect();
    if table.is_empty() {
        return metadata();
    }
    prop_oneof![
        9 => table_row(table.clone(), ""),
        1 => select(table).prop_map(|(at, _)| Edit { at: at.to_owned(), to: None }),
    ]
    .boxed()
}

fn junk(kind: &'static Kind) -> BoxedStrategy<Edit> {
    let places: Vec<&'static str> = kind.fields.iter().map(|(at, _)| *at).collect();
    let places = prop_oneof![
        4 => select(places).prop_map(str::to_owned),
        1 => select(METADATA).prop_map(|(at, _)| format!("/metadata{at}")),
        1 => select(&["/metadata", "/spec", "/status", "/kind", "/apiVersion"][..]).prop_map(str::to_owned),
    ];
    (places, values(JUNK)).prop_map(|(at, value)| Edit { at, to: Some(value) }).boxed()
}

/// What an object says about itself, and keys that come twice.
fn top(kind: &'static Kind) -> BoxedStrategy<Edit> {
    let twice = kind.fields.iter().find(|(at, _)| at.matches('/').count() == 2);
    let (parent, key) = twice.and_then(|(at, _)| at.rsplit_once('/')).unwrap_or(("/metadata", "name"));
    let twice = Edit { at: format!("{parent}/<dup>{key}"), to: Some(json!("twice")) };
    prop_oneof![
        3 => Just(twice),
        1 => Just(Edit { at: "/<dup>kind".to_owned(), to: Some(json!("Twice")) }),
        1 => Just(Edit { at: "/kind".to_owned(), to: Some(json!("Other")) }),
        1 => Just(Edit { at: "/kind".to_owned(), to: None }),
        1 => Just(Edit { at: "/apiVersion".to_owned(), to: Some(json!("example.com/v1")) }),
        1 => Just(Edit { at: "/apiVersion".to_owned(), to: None }),
        1 => Just(Edit { at: "/metadata".to_owned(), to: None }),
    ]
    .boxed()
}

fn from_table(table: &'static [(&'static str, &'static str)], below: &'static str) -> BoxedStrategy<Edit> {
    prop_oneof![
        12 => table_row(table.to_vec(), below),
        1 => select(table).prop_map(move |(at, _)| Edit { at: format!("{below}{at}"), to: None }),
    ]
    .boxed()
}

fn table_row(table: Vec<(&'static str, &'static str)>, below: &'static str) -> BoxedStrategy<Edit> {
    select(table)
        .prop_flat_map(move |(at, json)| {
            values(json).prop_map(move |value| Edit { at: format!("{below}{at}"), to: Some(value) })
        })
        .boxed()
}

fn values(json: &'static str) -> BoxedStrategy<Value> {
    let Value::Array(values) = parse(json) else { panic!("{json} is no array") };
    select(values).boxed()
}

/// Up to `most` changes; none is likely.
pub(super) fn some(one: BoxedStrategy<Edit>, most: usize) -> BoxedStrategy<Vec<Edit>> {
    prop_oneof![2 => vec(one.clone(), 1), 1 => vec(one, 0..=most)].boxed()
}

/// What a patch says about the version that it is meant for; mostly nothing.
pub(super) fn guard(target: &Target) -> BoxedStrategy<Option<Edit>> {
    let id = &target.id().0;
    let edit = |at: &str, to: String| Some(Edit { at: format!("/metadata/{at}"), to: Some(json!(to)) });
    prop_oneof![
        24 => Just(None),
        2 => Just(edit("resourceVersion", format!("<rv {id} 0>"))),
        2 => Just(edit("resourceVersion", format!("<rv {id} 1>"))),
        1 => Just(edit("uid", format!("<uid {id}>"))),
        1 => Just(edit("uid", "00000000-0000-0000-0000-00000000000a".to_owned())),
    ]
    .boxed()
}

/// Which versions of the target a body may be made of, and with which resourceVersion.
pub(super) fn freshness(target: &Target) -> BoxedStrategy<Vec<Edit>> {
    let id = &target.id().0;
    let version = |to: Option<Value>| vec![Edit { at: "/metadata/resourceVersion".to_owned(), to }];
    prop_oneof![
        20 => Just(Vec::new()),
        2 => Just(version(Some(json!(format!("<rv {id} 1>"))))),
        2 => Just(version(Some(json!(format!("<rv {id} 0>"))))),
        2 => Just(version(None)),
    ]
    .boxed()
}
