//! A call to an API server, with placeholders for what differs between the two sides.

mod show;

use serde_json::Value;

/// One request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// Starts with `/`.
    pub(crate) path: String,
    /// Names and values, not yet encoded.
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) accept: Option<&'static str>,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) user_agent: Option<&'static str>,
    pub(crate) body: Body,
}

/// What a request carries.
#[derive(Debug, Clone, Default)]
pub(crate) enum Body {
    #[default]
    None,
    /// This text.
    Text(String),
    /// An object as the side saw it, changed.
    Seen(Seen),
}

/// An object as one side saw it, changed.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) id: Id,
    /// How many versions ago.
    pub(crate) back: usize,
    /// What to change if the side never saw it.
    pub(crate) otherwise: Value,
    pub(crate) edits: Vec<Edit>,
}

/// Puts a value at a place, or takes it away.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    /// A JSON pointer. What is on the way there and missing is made.
    pub(crate) at: String,
    pub(crate) to: Option<Value>,
}

/// Names an object on either side: kind, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id(pub(crate) String);

impl Id {
    /// Without the prefix that names on a server have; an empty namespace is that of objects that are in none.
    pub(crate) fn new(tag: &str, namespace: &str, name: &str) -> Self {
        let short = |name: &str| name.trim_start_matches("<pre>-").to_owned();
        let namespace = if namespace.is_empty() { "-".to_owned() } else { short(namespace) };
        Self(format!("{tag}/{namespace}/{}", short(name)))
    }
}

impl Edit {
    /// Changes `object`.
    pub(crate) fn apply(&self, object: &mut Value) {
        let mut steps: Vec<String> =
            self.at.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let Some(last) = steps.pop() else {
            *object = self.to.clone().unwrap_or_default();
            return;
        };
        let mut place = object;
        for step in steps {
            let Some(next) = enter(place, &step) else { return };
            place = next;
        }
        match (enter(place, &last), &self.to) {
            (Some(found), Some(value)) => found.clone_from(value),
            (Some(_), None) => leave(place, &last),
            (None, _) => {}
        }
    }
}

/// The value at `step`, made if need be; nothing in a scalar, and nothing beyond the end of a list.
fn enter<'a>(place: &'a mut Value, step: &str) -> Option<&'a mut Value> {
    if place.is_null() {
        *place = Value::Object(serde_json::Map::new());
    }
    match place {
        Value::Object(fields) => Some(fields.entry(step).or_insert(Value::Null)),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn leave(place: &mut Value, step: &str) {
    match place {
        Value::Object(fields) => drop(fields.remove(step)),
        Value::Array(items) => {
            let index = step.parse::<usize>().ok().filter(|index| *index < items.len());
            index.map(|index| items.remove(index));
        }
        _ => {}
    }
}
