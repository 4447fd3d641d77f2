//! The definitions as files.

use super::crds;
use kube::ResourceExt;

const HEADER: &str =
    "# Made by `cargo xtask manifests` from the types in api/src/kinds. Change those, not this.\n";

/// Why a definition can't be written as YAML.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the definition {name} as YAML")]
pub struct ManifestError {
    /// The definition's name.
    name: String,
    source: serde_saphyr::SerializeError,
}

/// What belongs into `deploy/crds/`: file names and their texts.
///
/// # Errors
/// If a definition can't be written as YAML, which would be a mistake in this crate.
pub fn manifests() -> Result<Vec<(String, String)>, ManifestError> {
    crds()
        .into_iter()
        .map(|crd| match serde_saphyr::to_string(&crd) {
            Ok(yaml) => Ok((format!("{}.yaml", crd.spec.names.plural), format!("{HEADER}{yaml}"))),
            Err(source) => Err(ManifestError { name: crd.name_any(), source }),
        })
        .collect()
}
