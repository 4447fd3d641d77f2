//! All kinds that are served.

use super::kind::{Column, Kind};
use super::node::{Node, NodeError};
use super::typed::{self, Struct, kinds};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// The definitions of COSI's kinds, as they are installed in a cluster.
const DEFINITIONS: [&str; 5] = [
    include_str!("../../../deploy/crds/bucketaccessclasses.yaml"),
    include_str!("../../../deploy/crds/bucketaccesses.yaml"),
    include_str!("../../../deploy/crds/bucketclaims.yaml"),
    include_str!("../../../deploy/crds/bucketclasses.yaml"),
    include_str!("../../../deploy/crds/buckets.yaml"),
];

/// A definition that can't be served.
#[derive(Debug, Error)]
pub enum CatalogueError {
    /// It isn't YAML.
    #[error("a definition can't be read")]
    Yaml(#[source] Box<serde_saphyr::Error>),
    /// It isn't a definition.
    #[error("a definition has another form than expected")]
    Form(#[source] serde_json::Error),
    /// Its schema can't be followed.
    #[error("the schema of {kind} can't be followed")]
    Schema {
        /// The kind.
        kind: String,
        /// What is wrong with it.
        source: NodeError,
    },
}

/// The kinds that are served, and the definitions of those that aren't built in.
#[derive(Debug)]
pub struct Catalogue {
    kinds: Vec<Arc<Kind>>,
    definitions: Vec<Value>,
}

impl Catalogue {
    /// The five kinds of COSI by their definitions, and Namespaces, Secrets, Events and Leases.
    ///
    /// # Errors
    /// A definition says something that isn't understood here.
    pub fn new() -> Result<Self, CatalogueError> {
        let definitions = DEFINITIONS
            .iter()
            .map(|text| serde_saphyr::from_str(text).map_err(|error| CatalogueError::Yaml(Box::new(error))))
            .collect::<Result<Vec<Value>, _>>()?;
        let mut kinds = builtins();
        for definition in &definitions {
            kinds.append(&mut defined(definition)?);
        }
        Ok(Self { kinds: kinds.into_iter().map(Arc::new).collect(), definitions })
    }

    /// As [`Catalogue::new`], made once per process: it is the same for every server.
    ///
    /// # Errors
    /// Likewise.
    pub fn shared() -> Result<Arc<Self>, CatalogueError> {
        static SHARED: OnceLock<Arc<Catalogue>> = OnceLock::new();
        match SHARED.get() {
            Some(catalogue) => Ok(Arc::clone(catalogue)),
            None => Self::new().map(|catalogue| Arc::clone(SHARED.get_or_init(|| Arc::new(catalogue)))),
        }
    }

    /// All kinds: the built-in ones first.
    #[must_use]
    pub fn kinds(&self) -> &[Arc<Kind>] {
        &self.kinds
    }

    /// The CustomResourceDefinitions as they were installed.
    #[must_use]
    pub fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    /// The kind that a path names.
    #[must_use]
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.iter().find(|kind| kind.group == group && kind.version == version && kind.plural == plural)
    }
}

/// The parts of a definition that matter here.
#[derive(Deserialize)]
struct Definition {
    spec: DefinitionSpec,
}

#[derive(Deserialize)]
struct DefinitionSpec {
    group: String,
    names: Names,
    scope: String,
    versions: Vec<Version>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Names {
    kind: String,
    list_kind: String,
    plural: String,
    singular: String,
    #[serde(default, rename = "shortNames")]
    short: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    name: String,
    #[serde(default)]
    additional_printer_columns: Vec<Column>,
    schema: Schema,
    #[serde(default)]
    subresources: Subresources,
}

#[derive(Deserialize)]
struct Schema {
    #[serde(rename = "openAPIV3Schema")]
    written: Value,
}

#[derive(Default, Deserialize)]
struct Subresources {
    status: Option<Value>,
}

fn defined(definition: &Value) -> Result<Vec<Kind>, CatalogueError> {
    let DefinitionSpec { group, names, scope, versions } =
        Definition::deserialize(definition).map_err(CatalogueError::Form)?.spec;
    let kind = |version: Version| {
        let root = Node::parse(&version.schema.written)
            .map_err(|source| CatalogueError::Schema { kind: names.kind.clone(), source })?;
        Ok(Kind {
            group: group.clone(),
            version: version.name,
            kind: names.kind.clone(),
            list_kind: names.list_kind.clone(),
            plural: names.plural.clone(),
            singular: names.singular.clone(),
            short_names: names.short.clone(),
            namespaced: scope == "Namespaced",
            status: version.subresources.status.is_some(),
            builtin: false,
            columns: version.additional_printer_columns,
            written: version.schema.written,
            root,
            structure: None,
        })
    };
    versions.into_iter().map(kind).collect()
}

/// In the order in which a real server lists their groups.
fn builtins() -> Vec<Kind> {
    let core = ("", "v1");
    vec![
        builtin(core, "namespaces", &["ns"], &kinds::NAMESPACE),
        builtin(core, "secrets", &[], &kinds::SECRET),
        builtin(core, "events", &["ev"], &kinds::CORE_EVENT),
        builtin(("events.k8s.io", "v1"), "events", &["ev"], &kinds::EVENT),
        builtin(
            ("apiextensions.k8s.io", "v1"),
            "customresourcedefinitions",
            &["crd", "crds"],
            &kinds::DEFINITION,
        ),
        builtin(("coordination.k8s.io", "v1"), "leases", &[], &kinds::LEASE),
    ]
}

fn builtin((group, version): (&str, &str), plural: &str, short: &[&str], structure: &'static Struct) -> Kind {
    let wide = matches!(plural, "namespaces" | "customresourcedefinitions");
    Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: structure.name.to_owned(),
        list_kind: format!("{}List", structure.name),
        plural: plural.to_owned(),
        singular: structure.name.to_lowercase(),
        short_names: short.iter().map(|name| (*name).to_owned()).collect(),
        namespaced: !wide,
        status: wide,
        builtin: true,
        columns: Vec::new(),
        written: Value::Null,
        root: typed::node(structure),
        structure: Some(structure),
    }
}
