//! Makes sequences of calls: mostly sensible ones about few objects, so that they meet, and some nonsense.

mod create;
mod delete;
mod edits;
mod nonsense;
mod patch;
mod read;
mod update;
mod watches;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::{
    call::{Call, Id},
    kinds::{KINDS, Kind},
};
pub(crate) use watches::Watch;

/// How many calls a sequence has on average.
pub(crate) const MEAN: usize = 40;

/// Calls, and what is watched meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    /// What it is about.
    pub(crate) kinds: [&'static Kind; 2],
    pub(crate) watches: Vec<Watch>,
    pub(crate) calls: Vec<Call>,
}

/// Sequences about two kinds each, or one.
pub(crate) fn sequences() -> impl Strategy<Value = Sequence> {
    (kind(), kind()).prop_flat_map(|(one, other)| {
        let calls = vec(prop_oneof![3 => call(one), 1 => call(other)], 1..=2 * MEAN);
        (vec(watches::watch(one), 0..=3), create::valid(one), calls).prop_map(
            move |(watches, first, calls)| {
                let calls = first.into_iter().chain(calls).collect();
                Sequence { kinds: [one, other], watches, calls }
            },
        )
    })
}

fn kind() -> impl Strategy<Value = &'static Kind> {
    let weighted: Vec<&'static Kind> =
        KINDS.iter().flat_map(|kind| std::iter::repeat_n(kind, if kind.status { 3 } else { 2 })).collect();
    select(weighted)
}

fn call(kind: &'static Kind) -> BoxedStrategy<Call> {
    let strategic = if kind.custom { 1 } else { 6 };
    prop_oneof![
        18 => create::create(kind),
        6 => read::get(kind),
        8 => read::list(kind),
        12 => update::update(kind),
        if kind.status { 8 } else { 1 } => update::update_status(kind),
        12 => patch::merge(kind),
        8 => patch::json(kind),
        strategic => patch::strategic(kind),
        8 => patch::apply(kind),
        6 => delete::delete(kind),
        1 => delete::collection(kind),
        5 => nonsense::nonsense(kind),
        if kind.namespaced { 3 } else { 1 } => namespace_life(),
    ]
    .boxed()
}

/// Another namespace comes or goes.
fn namespace_life() -> impl Strategy<Value = Call> {
    let kind = KINDS.iter().find(|kind| kind.plural == "namespaces").unwrap();
    let target = Target { kind, namespace: "", name: "<pre>-n0" };
    prop_oneof![
        2 => Just(create::plain(&target)),
        1 => Just(Call { method: "DELETE", path: target.path(), ..Call::default() }),
    ]
}

/// An object that a call is about.
#[derive(Debug, Clone)]
struct Target {
    kind: &'static Kind,
    /// Empty for objects that are in none.
    namespace: &'static str,
    name: &'static str,
}

impl Target {
    fn collection(&self) -> String {
        collection(self.kind, self.namespace)
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }

    fn id(&self) -> Id {
        Id::new(self.kind.tag(), self.namespace, self.name)
    }

    /// A valid object.
    fn object(&self) -> Value {
        let mut object = self.kind.object();
        object["metadata"] = json!({ "name": self.name, "labels": { "app": "a", "seq": "<pre>" } });
        if self.kind.namespaced {
            object["metadata"]["namespace"] = self.namespace.into();
        }
        object
    }
}

fn collection(kind: &Kind, namespace: &str) -> String {
    if namespace.is_empty() {
        format!("{}/{}", kind.api(), kind.plural)
    } else {
        format!("{}/namespaces/{namespace}/{}", kind.api(), kind.plural)
    }
}

fn target(kind: &'static Kind) -> impl Strategy<Value = Target> {
    let names = prop_oneof![20 => Just("<pre>-x0"), 5 => Just("<pre>-x1"), 1 => Just("<pre>-n0")];
    (namespace(kind), names).prop_map(move |(namespace, name)| Target { kind, namespace, name })
}

fn namespace(kind: &'static Kind) -> BoxedStrategy<&'static str> {
    if kind.namespaced {
        prop_oneof![40 => Just("<pre>-main"), 4 => Just("<pre>-n0"), 1 => Just("<pre>-none")].boxed()
    } else {
        Just("").boxed()
    }
}

/// The settings of a write, mostly none.
fn write_query() -> BoxedStrategy<Vec<(&'static str, String)>> {
    let rare = |weight: u32, name: &'static str, values: &'static [&'static str]| {
        prop_oneof![
            100 - weight => Just(Vec::new()),
            weight => select(values).prop_map(move |value| vec![(name, value.to_owned())]),
        ]
    };
    (
        rare(7, "dryRun", &["All", "All", "All", "None", ""]),
        rare(20, "fieldValidation", &["Strict", "Strict", "Warn", "Ignore", "Nonsense"]),
        rare(15, "fieldManager", &["one", "two", "<long 129>"]),
    )
        .prop_map(|(dry, validation, manager)| [dry, validation, manager].concat())
        .boxed()
}

/// Who calls, as far as it says so.
fn agent() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![3 => Just(None), 1 => Just(Some("one/1.0 (more)")), 1 => Just(Some("two"))]
}
