//! With all rules, and whatever the driver, nothing that can happen breaks an invariant.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use cosi_model::{Bounds, check_all};

#[test]
fn no_state_of_any_quick_world_breaks_an_invariant() {
    let report = check_all(&Bounds::quick(), |world, report| {
        println!("{:>8} states: {world}", report.unique_states);
        assert!(report.violations.is_empty(), "{world}\n{report}");
    });
    println!("{report}");
    assert!(report.unique_states >= 1_000_000, "{report}");
}
