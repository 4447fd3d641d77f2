//! The lifecycle stays free of I/O: nothing in its dependency tree can wait, connect or roll dice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::process::Command;

/// Crates that do I/O, keep time or make random numbers. (`kube` itself is a facade; only its derive macro is used.)
const IMPURE: [&str; 11] = [
    "tokio",
    "hyper",
    "tonic",
    "kube-client",
    "kube-runtime",
    "rand",
    "reqwest",
    "mio",
    "socket2",
    "futures-timer",
    "rustls",
];

fn normal_dependencies() -> Vec<String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let arguments =
        ["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let output = Command::new(env!("CARGO")).args(arguments).args(["--manifest-path", manifest]).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are UTF-8");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_dependency_tree_has_no_io_no_clock_and_no_randomness() {
    let all = normal_dependencies();
    assert!(all.iter().any(|name| name == "cosi-api"), "this is not the lifecycle's tree: {all:?}");
    let impure: Vec<_> = all.iter().filter(|name| IMPURE.contains(&name.as_str())).collect();
    assert!(impure.is_empty(), "{impure:?}");
}

#[test]
fn the_source_asks_no_clock() {
    fn sources(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() && !path.ends_with("tests") {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    sources(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    assert!(found.len() > 10, "{found:?}");
    for path in found {
        let text = std::fs::read_to_string(&path).expect("the source can be read");
        for impure in ["Instant", "SystemTime", "std::fs", "std::net", "std::thread", "std::process"] {
            assert!(!text.contains(impure), "{} uses {impure}", path.display());
        }
    }
}
