//! What differs between two answers.

pub(crate) mod exempt;
mod faults;

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

/// A place in two answers where they differ.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// A JSON pointer.
    pub(crate) at: String,
    pub(crate) real: Option<Value>,
    pub(crate) model: Option<Value>,
}

/// All places where two answers differ.
pub(crate) fn places(real: &Value, model: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    walk(String::new(), Some(real), Some(model), &mut found);
    found
}

fn walk(at: String, real: Option<&Value>, model: Option<&Value>, found: &mut Vec<Place>) {
    match (real, model) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let step = name.replace('~', "~0").replace('/', "~1");
                walk(format!("{at}/{step}"), left.get(name), right.get(name), found);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                walk(format!("{at}/{index}"), left.get(index), right.get(index), found);
            }
        }
        (real, model) if real == model => {}
        (Some(Value::String(real)), Some(Value::String(model))) if faults::agree(real, model) => {}
        (real, model) => found.push(Place { at, real: real.cloned(), model: model.cloned() }),
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
        write!(f, "{}\n      real:  {}\n      model: {}", self.at, show(&self.real), show(&self.model))
    }
}

impl Place {
    /// The same for places that differ alike: numbers in the pointer do not count, nor do long values.
    pub(crate) fn sort(&self) -> String {
        let steps = self.at.split('/').map(|step| if step.parse::<usize>().is_ok() { "#" } else { step });
        let at = steps.collect::<Vec<_>>().join("/");
        let brief = |value: &Option<Value>| match value {
            None => "nothing".to_owned(),
            Some(Value::String(text)) if text.len() > 40 => "a text".to_owned(),
            Some(Value::Object(_)) => "an object".to_owned(),
            Some(Value::Array(_)) => "a list".to_owned(),
            Some(value) => value.to_string(),
        };
        format!("{at}: {} | {}", brief(&self.real), brief(&self.model))
    }
}

#[test]
fn every_place_that_differs_is_found() {
    let real = serde_json::json!({ "a": [1, 2, { "b": "c" }], "d": null, "e": 1 });
    let model = serde_json::json!({ "a": [1, 3, { "b": "C" }, 4], "d": null });
    let found: Vec<String> = places(&real, &model).into_iter().map(|place| place.at).collect();
    assert_eq!(found, ["/a/1", "/a/2/b", "/a/3", "/e"]);
}
