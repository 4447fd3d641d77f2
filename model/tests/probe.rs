#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
use cosi_model::*;
fn b(key: &str) -> u8 {
    let spec = std::env::var("B").unwrap_or_default();
    spec.split(',').find_map(|kv| kv.strip_prefix(&format!("{key}="))).map_or(0, |v| v.parse().unwrap())
}
#[test]
fn probe() {
    let budget = Budget {
        crashes: b("c"),
        lapses: b("l"),
        calls: b("f"),
        writes: b("w"),
        deletes: b("d"),
        strips: b("s"),
        recreates: b("r"),
        flips: b("p"),
        holds: b("h"),
        lost_secrets: b("x"),
    };
    let not_after = [NotAfter::Every, NotAfter::Making, NotAfter::Ignored][usize::from(b("n"))];
    let kind = if b("a") == 1 { Kind::Access } else { Kind::Bucket };
    for driver in Driver::all(not_after) {
        let bounds = Bounds {
            budget,
            driver,
            kind,
            standby: b("2") == 1,
            foreign_bucket: b("F") == 1,
            pauses: b("q") == 0,
            ..Bounds::QUIET
        };
        let report = check(&bounds);
        println!("{driver:?}\n{report}");
        if !report.violations.is_empty() && b("k") == 0 {
            break;
        }
    }
}
