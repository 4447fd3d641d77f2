//! Rules in the Common Expression Language: what a schema's `x-kubernetes-validations` say.

use super::formats;
use super::node::{Node, NodeError};
use super::{Cause, CauseReason, print};
use kube_cel::KubeCelExt as _;
use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{self, Context, Program};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The words of CEL, which stand as `__word__` where they name a field.
const RESERVED: [&str; 18] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
];

/// The functions that rules may call. Registering them costs far more than any rule does, so it is done once.
static FUNCTIONS: LazyLock<Context<'static>> = LazyLock::new(|| {
    let mut context = Context::default().with_all();
    formats::register(&mut context);
    context
});

/// A rule as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WrittenRule {
    rule: String,
    message: Option<String>,
    message_expression: Option<String>,
    reason: Option<String>,
    field_path: Option<String>,
}

/// A rule that a value must follow.
#[derive(Debug)]
pub(crate) struct Rule {
    written: WrittenRule,
    program: Program,
    message: Option<Program>,
    uses_old: bool,
}

impl Rule {
    /// Makes a rule ready to be checked.
    pub(super) fn compile(written: WrittenRule) -> Result<Self, NodeError> {
        let compile = |text: &String| {
            Program::compile(text)
                .map_err(|error| NodeError::Rule { rule: text.clone(), reason: error.to_string() })
        };
        let program = compile(&written.rule)?;
        let message = written.message_expression.as_ref().map(compile).transpose()?;
        let uses_old = program.references().has_variable("oldSelf");
        Ok(Self { written, program, message, uses_old })
    }

    fn broken(&self, path: &str, value: &Value, context: &Context<'_>) -> Cause {
        let field = match self.written.field_path.as_deref() {
            Some(inner) => print::child(path, inner.trim_start_matches('.')),
            None => path.to_owned(),
        };
        let detail = self.message(context);
        let shown = |reason| match value {
            Value::Object(_) | Value::Array(_) => Cause::plain(reason, field.as_str(), &detail),
            scalar => Cause::with_value(reason, field.as_str(), scalar, &detail),
        };
        match self.written.reason.as_deref() {
            Some("FieldValueForbidden") => Cause::forbidden(field, &detail),
            Some("FieldValueRequired") => Cause::required(field, &detail),
            Some("FieldValueDuplicate") => Cause::duplicate(field, value),
            _ => shown(CauseReason::Invalid),
        }
    }

    fn message(&self, context: &Context<'_>) -> String {
        if let Some(Ok(cel::Value::String(text))) = self.message.as_ref().map(|said| said.execute(context)) {
            let text = text.trim();
            if !text.is_empty() && !text.contains('\n') {
                return text.to_owned();
            }
        }
        match &self.written.message {
            Some(message) => message.trim().to_owned(),
            None => format!("failed rule: {}", self.written.rule.trim()),
        }
    }

    fn name(&self) -> &str {
        self.written.message.as_deref().unwrap_or(&self.written.rule).trim()
    }
}

/// Checks the rules of one schema on its value. A rule that looks at the value before is checked only if there was
/// one; faults of other rules are overlooked where `unchanged`.
pub(super) fn check(
    node: &Node,
    path: &str,
    value: &Value,
    old: Option<&Value>,
    unchanged: &dyn Fn() -> bool,
    causes: &mut Vec<Cause>,
) {
    let due: Vec<&Rule> = node.rules.iter().filter(|rule| old.is_some() || !rule.uses_old).collect();
    if due.is_empty() {
        return;
    }
    let mut context = FUNCTIONS.new_inner_scope();
    context.add_variable_from_value("self", converted(node, value));
    if let Some(old) = old.filter(|_| due.iter().any(|rule| rule.uses_old)) {
        context.add_variable_from_value("oldSelf", converted(node, old));
    }
    for rule in due {
        match rule.program.execute(&context) {
            Ok(cel::Value::Bool(true)) => {}
            Ok(_) if !rule.uses_old && unchanged() => {}
            Ok(_) => causes.push(rule.broken(path, value, &context)),
            Err(error) => {
                let kind = node.kind.map_or("", super::node::Type::as_str);
                let detail = format!("{error} evaluating rule: {}", rule.name());
                causes.push(Cause::invalid(path, &Value::from(kind), &detail));
            }
        }
    }
}

/// A value as rules see it. Points in time are texts to them.
fn converted(node: &Node, value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(truth) => cel::Value::Bool(*truth),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(signed), _) => cel::Value::Int(signed),
            (None, Some(unsigned)) => cel::Value::UInt(unsigned),
            _ => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => {
            let inner = node.items.as_deref().unwrap_or(&ANYTHING);
            cel::Value::List(Arc::new(items.iter().map(|item| converted(inner, item)).collect()))
        }
        Value::Object(fields) => {
            let map: HashMap<Key, cel::Value> = fields
                .iter()
                .map(|(name, field)| {
                    let key = if node.is_map() { name.clone() } else { escaped(name) };
                    (Key::from(key), converted(node.field(name).unwrap_or(&ANYTHING), field))
                })
                .collect();
            cel::Value::Map(Map { map: Arc::new(map) })
        }
    }
}

static ANYTHING: LazyLock<Node> = LazyLock::new(Node::default);

/// A field's name as rules must write it.
fn escaped(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
