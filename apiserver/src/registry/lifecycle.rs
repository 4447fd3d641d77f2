//! Objects live in namespaces that are there and are to stay.

use serde_json::{Value, json};

use super::strategy::definition::FIXED;
use super::{Strategy, Write, meta};
use crate::schema::Kind;
use crate::status::Refusal;

/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

impl Write<'_> {
    /// New objects need a namespace that is not being deleted.
    pub(super) fn namespace_takes(&self, object: &Value) -> Result<(), Refusal> {
        if self.namespace.is_empty() {
            return Ok(());
        }
        let Some(namespace) = self.state.store.get("namespaces", self.namespace) else {
            return Err(Refusal::not_found_of("namespaces", self.namespace));
        };
        if !meta::is_deleting(namespace) {
            return Ok(());
        }
        let name_of = self.namespace;
        let why =
            format!("unable to create new content in namespace {name_of} because it is being terminated");
        let cause = json!({
            "reason": "NamespaceTerminating",
            "message": format!("namespace {name_of} is being terminated"),
            "field": "metadata.namespace",
        });
        let names = ["name", "generateName"].map(|field| meta::text(object, field));
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown");
        Err(Refusal::forbidden(self.kind, name, &why).causes(vec![cause]))
    }
}

/// Some namespaces stay.
pub(super) fn may_be_deleted(kind: &Kind, name: &str) -> Result<(), Refusal> {
    if kind.builtin && kind.plural == "namespaces" && IMMORTAL.contains(&name) {
        return Err(Refusal::forbidden(kind, name, "this namespace may not be deleted"));
    }
    if Strategy::of(kind) == Strategy::Definition {
        return Err(Refusal::forbidden(kind, name, FIXED));
    }
    Ok(())
}
