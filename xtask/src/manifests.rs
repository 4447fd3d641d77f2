//! `cargo xtask manifests`: the CRDs in `deploy/crds/`, made from the types in `api/`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::workspace::root;

/// Writes `deploy/crds/`, or with `check` fails if it is not what would be written.
///
/// # Errors
/// If a definition cannot be made, a file cannot be read or written, or (with `check`) one is not current.
pub fn manifests(check: bool) -> Result<()> {
    bring(&root().join("deploy/crds"), &cosi_api::manifests()?.into_iter().collect(), check)
}

/// Makes `folder` hold exactly `wanted` as its YAML files.
fn bring(folder: &Path, wanted: &BTreeMap<String, String>, check: bool) -> Result<()> {
    if !check {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    let found = found(folder)?;
    for (name, text) in wanted.iter().filter(|(name, text)| found.get(*name) != Some(text)) {
        ensure!(!check, "{name} is not current; run `cargo xtask manifests`");
        fs::write(folder.join(name), text).with_context(|| format!("write {name}"))?;
    }
    for name in found.keys().filter(|name| !wanted.contains_key(*name)) {
        ensure!(!check, "{name} belongs to no type; run `cargo xtask manifests`");
        fs::remove_file(folder.join(name)).with_context(|| format!("remove {name}"))?;
    }
    Ok(())
}

/// The YAML files that are there; a kustomization is not made by this command.
fn found(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|extension| extension == "yaml") && name != "kustomization.yaml" {
            found
                .insert(name, fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> BTreeMap<String, String> {
        [("a.yaml", "a: 1\n"), ("b.yaml", "b: 2\n")].map(|(n, t)| (n.to_owned(), t.to_owned())).into()
    }

    #[test]
    fn what_is_written_is_current_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("crds");
        bring(&folder, &wanted(), false).unwrap();
        bring(&folder, &wanted(), true).unwrap();
    }

    #[test]
    fn a_missing_changed_or_superfluous_file_is_noticed_and_mended() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        let spoil: [&dyn Fn(); 3] = [
            &|| fs::remove_file(folder.join("a.yaml")).unwrap(),
            &|| fs::write(folder.join("b.yaml"), "b: 3\n").unwrap(),
            &|| fs::write(folder.join("c.yaml"), "").unwrap(),
        ];
        bring(folder, &wanted(), false).unwrap();
        for (case, spoil) in spoil.iter().enumerate() {
            spoil();
            bring(folder, &wanted(), true).expect_err(&format!("case {case}"));
            bring(folder, &wanted(), false).unwrap();
            bring(folder, &wanted(), true).unwrap();
        }
    }

    #[test]
    fn what_is_no_definition_stays() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["kustomization.yaml", "README.md"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        bring(dir.path(), &wanted(), false).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }
}
