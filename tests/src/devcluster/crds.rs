//! Our CRDs, from `deploy/crds` into a cluster.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// The field manager that owns what is applied here.
const MANAGER: &str = "cosi-tests";
/// How long the API server may take to serve a kind that it accepted.
const SERVED_WITHIN: Duration = Duration::from_secs(30);

/// Why the CRDs are not there.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The folder or a file in it cannot be read.
    #[error("reading {path}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is no YAML of a CRD.
    #[error("{path}: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The API server refuses one.
    #[error("applying CRD {name}")]
    Apply {
        /// The CRD.
        name: String,
        /// What the server says.
        source: Box<kube::Error>,
    },
    /// The API server accepted one and does not serve it.
    #[error("CRD {name} is not served after {SERVED_WITHIN:?}")]
    NotServed {
        /// The CRD.
        name: String,
        /// The last answer.
        source: Box<kube::Error>,
    },
}

/// Where our CRDs are.
pub(super) fn folder() -> PathBuf {
    crate::go::workspace().join("deploy/crds")
}

/// Applies every CRD in `folder` and waits until each is served. Doing it again changes nothing, and several may do
/// it at once: all apply the same content under the same manager.
pub(super) async fn install(client: Client, folder: &Path) -> Result<(), InstallError> {
    let mut applied = Vec::new();
    for path in files(folder)? {
        let crd = parse(&path)?;
        applied.push(apply(&client, &crd).await?);
    }
    for crd in &applied {
        wait_served(&client, crd).await?;
    }
    Ok(())
}

/// The YAML files in `folder`, sorted; none if there is no such folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let wrong = |source| InstallError::Read { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(wrong)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
    // A kustomization may stand beside them; it is no CRD.
    paths.retain(|path| path.file_name().is_none_or(|name| name != "kustomization.yaml"));
    paths.sort();
    Ok(paths)
}

fn parse(path: &Path) -> Result<Value, InstallError> {
    let text =
        fs::read_to_string(path).map_err(|source| InstallError::Read { path: path.to_owned(), source })?;
    serde_saphyr::from_str(&text)
        .map_err(|error| InstallError::Malformed { path: path.to_owned(), reason: error.to_string() })
}

/// Server-side apply of the file as it is: a typed round trip could lose what the types do not know.
async fn apply(client: &Client, crd: &Value) -> Result<CustomResourceDefinition, InstallError> {
    let name = crd.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let parameters = PatchParams::apply(MANAGER).force();
    Api::<CustomResourceDefinition>::all(client.clone())
        .patch(name, &parameters, &Patch::Apply(crd))
        .await
        .map_err(|source| InstallError::Apply { name: name.to_owned(), source: Box::new(source) })
}

/// Waits until every served version can be listed. That is more than the condition Established says: it is true
/// before the handlers are there.
async fn wait_served(client: &Client, crd: &CustomResourceDefinition) -> Result<(), InstallError> {
    let deadline = Instant::now() + SERVED_WITHIN;
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        let kind = GroupVersionKind::gvk(&crd.spec.group, &version.name, &crd.spec.names.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &crd.spec.names.plural);
        let objects: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        while let Err(source) = objects.list_metadata(&ListParams::default().limit(1)).await {
            if Instant::now() > deadline {
                let name = crd.metadata.name.clone().unwrap_or_default();
                return Err(InstallError::NotServed { name, source: Box::new(source) });
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{files, parse};

    #[test]
    fn a_missing_folder_holds_no_crds() {
        let dir = tempfile::tempdir().unwrap();
        assert!(files(&dir.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn only_yaml_files_are_taken_in_order_and_a_kustomization_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.yaml", "README.md", "kustomization.yaml"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let names: Vec<_> = files(dir.path())
            .unwrap()
            .into_iter()
            .filter_map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        assert_eq!(names, ["a.yaml", "b.yaml"]);
    }

    #[test]
    fn a_malformed_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bad.yaml");
        std::fs::write(&path, "a: [").unwrap();
        assert!(parse(&path).unwrap_err().to_string().contains("bad.yaml"));
    }
}
