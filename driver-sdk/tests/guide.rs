//! The guide for driver authors and the examples are what they say they are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// What a newcomer copies is what the tests of the examples run.
#[test]
fn the_driver_in_the_guide_is_the_example() {
    let guide = read("../docs/driver-authors.md");
    let code = guide.split("```rust,no_run\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(code == read("examples/folders.rs"), "the guide's driver is not examples/folders.rs");
}

#[test]
fn every_example_is_a_driver_in_less_than_150_lines() {
    let mut found = 0;
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let path = file.unwrap().path();
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 150, "{}: {lines} lines", path.display());
        found += 1;
    }
    assert!(found >= 3);
}
