//! Runs sequences on two servers, and tells what differs.

use std::{
    fmt::{self, Display, Formatter, Write as _},
    sync::atomic::{AtomicUsize, Ordering},
};

use kube::Client;
use serde_json::{Value, json};

use crate::{
    call::{Body, Call},
    compare::{Place, exempt::is_exempt, places},
    generate::{Sequence, Watch},
    side::{Distortion, Side, watch::Watching},
};

/// Two servers. Each sequence has names of its own on both.
pub(crate) struct Pair {
    pub(crate) real: Client,
    pub(crate) model: Client,
    /// Whether managedFields are compared.
    pub(crate) managed_fields: bool,
    /// What is done to the second side's answers.
    pub(crate) distortion: Option<Distortion>,
    pub(crate) sequences: AtomicUsize,
    pub(crate) calls: AtomicUsize,
}

/// The first difference that a sequence met.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The calls up to it, each with how both servers answered.
    pub(crate) story: Vec<String>,
    /// What was compared when it was met.
    pub(crate) what: String,
    pub(crate) places: Vec<Place>,
    /// Both answers, the real one first.
    answers: [Value; 2],
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, line) in self.story.iter().enumerate() {
            writeln!(f, "{number:3}  {line}")?;
        }
        writeln!(f, "differs: {}", self.what)?;
        for place in self.places.iter().take(12) {
            writeln!(f, "    {place}")?;
        }
        writeln!(f, "  real:  {}", shorten(&self.answers[0]))?;
        write!(f, "  model: {}", shorten(&self.answers[1]))
    }
}

fn shorten(answer: &Value) -> String {
    answer.to_string().chars().take(3000).collect()
}

/// Both sides of one sequence.
struct Run {
    sides: [Side; 2],
    story: Vec<String>,
}

impl Pair {
    pub(crate) fn new(real: Client, model: Client) -> Self {
        let (sequences, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { real, model, managed_fields: false, distortion: None, sequences, calls }
    }

    /// How many calls both sides answered so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Runs the sequence under new names.
    ///
    /// # Errors
    /// The first difference.
    pub(crate) async fn run(&self, sequence: &Sequence) -> Result<(), Box<Difference>> {
        let number = self.sequences.fetch_add(1, Ordering::Relaxed);
        // Last of all in the alphabet: what a server has of its own must not come after ours in a list.
        let prefix = format!("z{number:07}");
        let real = Side::new(self.real.clone(), &prefix, None).with_managed_fields(self.managed_fields);
        let model =
            Side::new(self.model.clone(), &prefix, self.distortion).with_managed_fields(self.managed_fields);
        let mut run = Run { sides: [real, model], story: Vec::new() };
        let result = run.all(sequence).await;
        self.calls.fetch_add(run.story.len(), Ordering::Relaxed);
        let [real, model] = &run.sides;
        tokio::join!(real.clean(&sequence.kinds), model.clean(&sequence.kinds));
        result.map_err(|mut difference| {
            difference.story = run.story;
            difference
        })
    }
}

type Outcome = Result<(), Box<Difference>>;

impl Run {
    async fn all(&mut self, sequence: &Sequence) -> Outcome {
        self.call(&namespace()).await?;
        let mut before = Vec::new();
        for watch in sequence.watches.iter().filter(|watch| !watch.after) {
            before.push((watch, self.watch(&watch.call).await));
        }
        for call in &sequence.calls {
            self.call(call).await?;
        }
        for watch in &sequence.watches {
            for call in watch.ending() {
                self.call(&call).await?;
            }
        }
        for (watch, watching) in before {
            self.events(watch, watching).await?;
        }
        for watch in sequence.watches.iter().filter(|watch| watch.after) {
            let watching = self.watch(&watch.call).await;
            self.events(watch, watching).await?;
        }
        let [real, model] = &self.sides;
        let orders = [real.order(), model.order()].map(|order| json!(order));
        differ("the order of versions", &Call::default(), orders)
    }

    async fn call(&mut self, call: &Call) -> Outcome {
        let number = self.story.len();
        let [real, model] = &mut self.sides;
        let (real, model) = tokio::join!(real.send(number, call), model.send(number, call));
        self.story.push(format!("{call} → {} | {}", brief(&real), brief(&model)));
        differ(&call.to_string(), call, [real, model])
    }

    async fn watch(&mut self, call: &Call) -> [Watching; 2] {
        let [real, model] = &mut self.sides;
        let (real, model) = tokio::join!(real.watch(call), model.watch(call));
        [real, model]
    }

    async fn events(&mut self, watch: &Watch, [first, second]: [Watching; 2]) -> Outcome {
        let [real, model] = &mut self.sides;
        let (real, model) = tokio::join!(real.events(first), model.events(second));
        let when = if watch.after { "afterwards" } else { "before" };
        differ(&format!("what a watch opened {when} saw: {}", watch.call), &watch.call, [real, model])
    }
}

/// All namespaced objects of a sequence are in this.
fn namespace() -> Call {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "<pre>-main", "labels": { "seq": "<pre>" } } });
    Call {
        method: "POST",
        path: "/api/v1/namespaces".to_owned(),
        content_type: Some("application/json"),
        body: Body::Text(namespace.to_string()),
        ..Call::default()
    }
}

fn differ(what: &str, call: &Call, answers: [Value; 2]) -> Outcome {
    let [real, model] = &answers;
    let mut places = places(real, model);
    places.retain(|place| !is_exempt(call, place));
    if places.is_empty() {
        return Ok(());
    }
    Err(Box::new(Difference { story: Vec::new(), what: what.to_owned(), places, answers }))
}

/// An answer in a few words.
fn brief(answer: &Value) -> String {
    let mut text = answer["code"].to_string();
    if let Some(reason) = answer["body"]["reason"].as_str() {
        let _ = write!(text, " {reason}");
    }
    if let Some(version) = answer["body"]["metadata"]["resourceVersion"].as_str() {
        let _ = write!(text, " {version}");
    }
    text
}
