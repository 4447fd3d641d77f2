#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
use cosi_model::*;
#[test]
fn probe() {
    let budget = Budget { deletes: 1, crashes: 1, calls: 1, ..Budget::default() };
    let report = check(&Bounds { budget, ..Bounds::QUIET });
    println!("{report}");
}
