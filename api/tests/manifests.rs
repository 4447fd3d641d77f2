//! `deploy/crds/` holds exactly what the types say; `cargo xtask manifests` writes it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds")
}

#[test]
fn the_files_in_deploy_crds_are_current() {
    let folder = folder();
    for (name, yaml) in cosi_api::manifests().unwrap() {
        let found = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(found == yaml, "{name} is out of date: run `cargo xtask manifests`");
    }
}

#[test]
fn there_is_one_file_for_each_kind_and_no_other() {
    let made: BTreeSet<_> = cosi_api::manifests().unwrap().into_iter().map(|(name, _)| name).collect();
    let expected = ["bucketaccessclasses", "bucketaccesses", "bucketclaims", "bucketclasses", "buckets"];
    assert_eq!(made, expected.map(|plural| format!("{plural}.yaml")).into());

    let found: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, made);
}

#[test]
fn a_file_reads_back_as_the_definition_it_was_made_of() {
    for ((name, yaml), crd) in cosi_api::manifests().unwrap().into_iter().zip(cosi_api::crds()) {
        let back: serde_json::Value = serde_saphyr::from_str(&yaml).unwrap();
        assert_eq!(back, serde_json::to_value(&crd).unwrap(), "{name}");
    }
}
