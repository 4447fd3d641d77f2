//! Owner references and deleted namespaces: the embedded controllers beside the real ones. What is left in the end must
//! be the same; how they get there is their own affair.

use std::time::{Duration, Instant};

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    call::{Body, Call, Id},
    compare::{Place, places},
    kinds::{KINDS, Kind},
    side::Side,
};

/// How long controllers may take until all is as it will stay.
const SETTLED_WITHIN: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(25);

/// Objects that own each other, and what happens to them.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    things: Vec<Thing>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
struct Thing {
    kind: &'static Kind,
    owners: Vec<Owner>,
    /// Whether it has a finalizer of its own.
    held: bool,
}

#[derive(Debug, Clone)]
struct Owner {
    /// Among the things made before, from the last backwards; nothing if there are too few.
    back: usize,
    /// Whether the uid is that of nobody.
    absent: bool,
    block: bool,
}

#[derive(Debug, Clone)]
enum Step {
    Delete { thing: usize, policy: &'static str },
    Release { thing: usize },
    DeleteNamespace,
}

/// Scenarios of a few objects.
pub(crate) fn scenarios() -> impl Strategy<Value = Scenario> {
    let kinds: Vec<&'static Kind> = KINDS
        .iter()
        .filter(|kind| ["secrets", "bucketclaims", "bucketaccesses", "leases"].contains(&kind.plural))
        .collect();
    let owner = (1..4_usize, prop::bool::weighted(0.1), any::<bool>())
        .prop_map(|(back, absent, block)| Owner { back, absent, block });
    let thing = (select(kinds), vec(owner, 0..=2), prop::bool::weighted(0.2))
        .prop_map(|(kind, owners, held)| Thing { kind, owners, held });
    let step = prop_oneof![
        6 => (0..6_usize, select(&["Background", "Foreground", "Orphan"][..]))
            .prop_map(|(thing, policy)| Step::Delete { thing, policy }),
        2 => (0..6_usize).prop_map(|thing| Step::Release { thing }),
        1 => Just(Step::DeleteNamespace),
    ];
    (vec(thing, 1..=6), vec(step, 1..=4)).prop_map(|(things, steps)| Scenario { things, steps })
}

impl Scenario {
    /// The calls that make the objects, and those that come then.
    fn calls(&self) -> (Vec<Call>, Vec<Call>) {
        let made = (0..self.things.len()).map(|number| self.make(number)).collect();
        (made, self.steps.iter().map(|step| self.step(step)).collect())
    }

    fn make(&self, number: usize) -> Call {
        let thing = &self.things[number];
        let owners: Vec<Value> =
            thing.owners.iter().filter_map(|owner| self.reference(number, owner)).collect();
        let mut object = thing.kind.object();
        object["metadata"] = json!({ "name": name(number), "ownerReferences": owners });
        if thing.held {
            object["metadata"]["finalizers"] = json!(["example.com/own"]);
        }
        write("POST", collection(thing.kind), &object)
    }

    fn reference(&self, number: usize, owner: &Owner) -> Option<Value> {
        let at = number.checked_sub(owner.back)?;
        let kind = self.things[at].kind;
        let uid = format!("<uid {}>", Id::new(kind.tag(), "<pre>-main", &name(at)).0);
        let uid = if owner.absent { "00000000-0000-0000-0000-00000000000a".to_owned() } else { uid };
        Some(json!({
            "apiVersion": kind.version, "kind": kind.kind, "name": name(at), "uid": uid, "blockOwnerDeletion": owner.block,
        }))
    }

    fn step(&self, step: &Step) -> Call {
        let path = |thing: usize| {
            let thing = thing % self.things.len();
            format!("{}/{}", collection(self.things[thing].kind), name(thing))
        };
        match step {
            Step::Delete { thing, policy } => Call {
                method: "DELETE",
                path: path(*thing),
                query: vec![("propagationPolicy", (*policy).to_owned())],
                ..Call::default()
            },
            Step::Release { thing } => Call {
                content_type: Some("application/json-patch+json"),
                ..write(
                    "PATCH",
                    path(*thing),
                    &json!([{ "op": "test", "path": "/metadata/finalizers/0", "value": "example.com/own" },
                            { "op": "remove", "path": "/metadata/finalizers/0" }]),
                )
            },
            Step::DeleteNamespace => {
                Call { method: "DELETE", path: "/api/v1/namespaces/<pre>-main".to_owned(), ..Call::default() }
            }
        }
    }

    /// Plays it on both sides.
    ///
    /// # Errors
    /// What differs when both have settled, with all that was done, in words.
    pub(crate) async fn run(&self, sides: &mut [Side; 2]) -> Result<(), String> {
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "<pre>-main" } });
        both(sides, &write("POST", "/api/v1/namespaces".to_owned(), &namespace)).await;
        let (made, steps) = self.calls();
        let mut story = Vec::new();
        for call in &made {
            story.push(format!("{call} → {}", both(sides, call).await));
        }
        story.push(settle(sides).await.map_err(|differs| told(&story, &differs))?);
        for call in &steps {
            story.push(format!("{call} → {}", both(sides, call).await));
            story.push(settle(sides).await.map_err(|differs| told(&story, &differs))?);
        }
        Ok(())
    }
}

fn told(story: &[String], differs: &[Place]) -> String {
    let places: Vec<String> = differs.iter().map(|place| format!("    {place}")).collect();
    format!("{}\ndiffers when settled:\n{}", story.join("\n"), places.join("\n"))
}

fn name(number: usize) -> String {
    format!("<pre>-o{number}")
}

fn collection(kind: &Kind) -> String {
    format!("{}/namespaces/<pre>-main/{}", kind.api(), kind.plural)
}

fn write(method: &'static str, path: String, object: &Value) -> Call {
    let body = Body::Text(object.to_string());
    Call { method, path, content_type: Some("application/json"), body, ..Call::default() }
}

async fn both(sides: &mut [Side; 2], call: &Call) -> String {
    let [real, model] = sides;
    let (real, model) = tokio::join!(real.send(0, call), model.send(0, call));
    format!("{} | {}", real["code"], model["code"])
}

/// Waits until both are the same, and still are when the controllers of both have done something that they were given
/// later.
async fn settle(sides: &mut [Side; 2]) -> Result<String, Vec<Place>> {
    let deadline = Instant::now() + SETTLED_WITHIN;
    loop {
        let differs = difference(sides).await;
        if differs.is_empty() {
            let [real, model] = &mut *sides;
            tokio::join!(busy(real), busy(model));
            if difference(sides).await.is_empty() {
                return Ok("   all settled".to_owned());
            }
        }
        if Instant::now() > deadline {
            return Err(differs);
        }
        sleep(PAUSE).await;
    }
}

/// Gives the garbage collector something to do, and waits until it has done it.
async fn busy(side: &mut Side) {
    let canary = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "<pre>-canary", "ownerReferences": [{
        "apiVersion": "v1", "kind": "Secret", "name": "nobody", "uid": "00000000-0000-0000-0000-00000000000a",
    }] } });
    let path = "/api/v1/namespaces/default/secrets";
    side.send(0, &write("POST", path.to_owned(), &canary)).await;
    let get = Call { method: "GET", path: format!("{path}/<pre>-canary"), ..Call::default() };
    let deadline = Instant::now() + SETTLED_WITHIN;
    while side.send(0, &get).await["code"] != 404 {
        assert!(Instant::now() < deadline, "nothing is collected");
        sleep(PAUSE).await;
    }
}

async fn difference(sides: &mut [Side; 2]) -> Vec<Place> {
    let [real, model] = sides;
    let (real, model) = tokio::join!(state(real), state(model));
    places(&real, &model)
}

/// All objects of the scenario, without what only tells when something happened.
async fn state(side: &mut Side) -> Value {
    let mut found = Vec::new();
    for kind in ["secrets", "bucketclaims", "bucketaccesses", "leases"] {
        let kind = KINDS.iter().find(|known| known.plural == kind).unwrap();
        let list = Call { method: "GET", path: collection(kind), ..Call::default() };
        found.push(side.send(0, &list).await["body"]["items"].take());
    }
    let namespace =
        Call { method: "GET", path: "/api/v1/namespaces/<pre>-main".to_owned(), ..Call::default() };
    let answer = side.send(0, &namespace).await;
    found.push(json!([answer["code"], answer["body"]["spec"], answer["body"]["status"]["phase"]]));
    let mut found = Value::Array(found);
    for item in found.as_array_mut().into_iter().flatten().filter_map(Value::as_array_mut).flatten() {
        if let Some(metadata) = item.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("resourceVersion");
            metadata.remove("generation");
        }
    }
    found
}
