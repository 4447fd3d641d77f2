//! The formats of names that rules can ask for: `format.dns1123Label()` and `format.dns1123Subdomain()`. The library's own
//! differ from a kube-apiserver's: there, the parts of a subdomain may be longer than labels.

use crate::registry::names;
use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Opaque, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, ResolveResult, Value};
use std::sync::Arc;

/// A form of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Label,
    Subdomain,
}

impl Opaque for Format {
    fn runtime_type_name(&self) -> &'static str {
        "kubernetes.NamedFormat"
    }
}

/// Makes the formats known to rules.
pub(super) fn register(context: &mut Context<'_>) {
    let made = |format| Value::Opaque(Arc::new(format));
    context.add_function("format.dns1123Label", move || -> ResolveResult { Ok(made(Format::Label)) });
    context.add_function("format.dns1123Subdomain", move || -> ResolveResult { Ok(made(Format::Subdomain)) });
    context.add_function("validate", |This(format): This<Value>, text: Arc<String>| faults(&format, &text));
}

/// All faults of a text, or nothing.
fn faults(format: &Value, text: &str) -> ResolveResult {
    let known = match format {
        Value::Opaque(opaque) => opaque.downcast_ref::<Format>(),
        _ => None,
    };
    let faults = match known {
        Some(Format::Label) => names::label(text),
        Some(Format::Subdomain) => names::subdomain(text),
        None => return Err(ExecutionError::function_error("validate", "this format is not known here")),
    };
    let faults: Vec<Value> = faults.into_iter().map(|fault| Value::String(Arc::new(fault))).collect();
    let found = if faults.is_empty() {
        OptionalValue::none()
    } else {
        OptionalValue::of(Value::List(Arc::new(faults)))
    };
    Ok(Value::Opaque(Arc::new(found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_cel::cel::Program;

    #[test]
    fn a_part_of_a_subdomain_may_be_longer_than_a_label() {
        let mut context = Context::default();
        register(&mut context);
        for (format, length, wanted) in
            [("Label", 63, false), ("Label", 64, true), ("Subdomain", 253, false), ("Subdomain", 254, true)]
        {
            let text = "x".repeat(length);
            let rule = format!("format.dns1123{format}().validate('{text}').hasValue()");
            let found = Program::compile(&rule).unwrap().execute(&context);
            assert_eq!(found.ok(), Some(Value::Bool(wanted)), "{format} of {length}");
        }
    }
}
