//! The parameters of a request.

use std::num::ParseIntError;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::registry::{DeleteOptions, Propagation, invalid_revision, not_a_number};
use crate::schema::{Cause, print};
use crate::status::Refusal;

/// The parameters after the `?`, decoded, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(k, v)| (decode(k), decode(v)))
                .collect(),
        )
    }

    /// The first parameter of that name; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(found, _)| found == name).map_or("", |(_, value)| value)
    }

    fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str()).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(found, _)| found == name)
    }

    /// A parameter that is true if it is there and does not say otherwise.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.has(name) && !matches!(self.get(name).to_lowercase().as_str(), "false" | "0")
    }

    /// A flag that may be missing.
    pub(crate) fn choice(&self, name: &str) -> Option<bool> {
        self.has(name).then(|| self.flag(name))
    }

    /// A whole number; `None` if it is missing.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let text = self.get(name);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|error: ParseIntError| {
            let quoted = print::quoted(text);
            let why = not_a_number(&error);
            Refusal::bad_request(format!("strconv.ParseInt: parsing {quoted}: {why}"))
        })
    }

    /// The resourceVersion; `None` if it is missing. The error says what is wrong with one that is no number.
    pub(crate) fn revision(&self) -> Result<Option<u64>, String> {
        match self.get("resourceVersion") {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| invalid_revision(text)),
        }
    }
}

/// What is done with fields that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// They are left out silently.
    Ignore,
    /// They are left out, and the client is told.
    Warn,
    /// They are refused.
    Strict,
}

/// The options of a write.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) strictness: Strictness,
    /// Who writes, if it is said.
    pub(crate) manager: String,
    /// Whether fields are taken away from other managers; `None` if nothing is said.
    pub(crate) force: Option<bool>,
}

fn dry_run(values: &[&str]) -> Option<Cause> {
    let supported = values.iter().all(|value| *value == "All");
    (!supported).then(|| Cause::not_supported("dryRun", &json!(values), &[json!("All")]))
}

fn manager(name: &str) -> Vec<Cause> {
    const MAX: usize = 128;
    let mut causes = Vec::new();
    if name.len() > MAX {
        causes.push(Cause::too_long("fieldManager", 128));
    }
    for (at, letter) in name.char_indices().filter(|(_, letter)| letter.is_control()) {
        let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
        causes.push(Cause::invalid("fieldManager", &Value::from(name), &detail));
    }
    causes
}

impl WriteOptions {
    /// Reads the parameters. `kind` is what they are called in errors: `CreateOptions` and its like.
    pub(crate) fn of(query: &Query, kind: &str, applies: bool) -> Result<Self, Refusal> {
        let mut causes = Vec::new();
        let force = query.choice("force");
        if kind == "PatchOptions" && !applies && force.is_some() {
            causes.push(Cause::forbidden("force", "may not be specified for non-apply patch"));
        }
        if applies && query.get("fieldManager").is_empty() {
            causes.push(Cause::required("fieldManager", "is required for apply patch"));
        }
        causes.extend(manager(query.get("fieldManager")));
        causes.extend(dry_run(&query.all("dryRun")));
        let strictness = match query.get("fieldValidation") {
            "" | "Warn" => Strictness::Warn,
            "Ignore" => Strictness::Ignore,
            "Strict" => Strictness::Strict,
            other => {
                let choices = ["", "Ignore", "Strict", "Warn"].map(Value::from);
                causes.push(Cause::not_supported("fieldValidation", &Value::from(other), &choices));
                Strictness::Warn
            }
        };
        if !causes.is_empty() {
            return Err(Refusal::invalid_of("meta.k8s.io", kind, "", &causes));
        }
        let manager = query.get("fieldManager").to_owned();
        Ok(Self { dry_run: !query.all("dryRun").is_empty(), strictness, manager, force })
    }
}

/// The options of a deletion, and whether it is only tried.
pub(crate) fn delete_options(query: &Query, body: Option<&Value>) -> Result<(DeleteOptions, bool), Refusal> {
    if body.is_none() {
        query.number("gracePeriodSeconds")?;
    }
    let text = |name: &str| match body {
        Some(body) => body.get(name).and_then(Value::as_str).unwrap_or_default(),
        None => query.get(name),
    };
    let dry: Vec<&str> = match body {
        Some(body) => body
            .get("dryRun")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect(),
        None => query.all("dryRun"),
    };
    let orphan = match body {
        Some(body) => body.get("orphanDependents").and_then(Value::as_bool),
        None => query.choice("orphanDependents"),
    };
    let mut causes = Vec::new();
    let policy = text("propagationPolicy");
    if orphan.is_some() && !policy.is_empty() {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        causes.push(Cause::invalid("propagationPolicy", &Value::from(policy), detail));
    }
    let propagation = match policy {
        "" => orphan.map(|orphan| if orphan { Propagation::Orphan } else { Propagation::Background }),
        "Background" => Some(Propagation::Background),
        "Foreground" => Some(Propagation::Foreground),
        "Orphan" => Some(Propagation::Orphan),
        other => {
            let choices = ["Foreground", "Background", "Orphan", "nil"].map(Value::from);
            causes.push(Cause::not_supported("propagationPolicy", &Value::from(other), &choices));
            None
        }
    };
    causes.extend(dry_run(&dry));
    if !causes.is_empty() {
        return Err(Refusal::invalid_of("meta.k8s.io", "DeleteOptions", "", &causes));
    }
    let condition = |field: &str| {
        let preconditions = body.and_then(|body| body.get("preconditions"))?;
        preconditions.get(field).and_then(Value::as_str).map(str::to_owned)
    };
    let options =
        DeleteOptions { uid: condition("uid"), revision: condition("resourceVersion"), propagation };
    Ok((options, !dry.is_empty()))
}
