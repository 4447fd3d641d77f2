//! Why an applied object does not fit its schema. The real server goes through the fields in no order, and stops at one
//! that the schema does not have: of several faults it may tell only some, and not the same twice.

use std::collections::BTreeSet;

/// Whether the first message may be what the real server says where the second tells all faults.
pub(super) fn agree(real: &str, all: &str) -> bool {
    let (Some((real, told)), Some((model, all))) = (faults(real), faults(all)) else { return false };
    let stopped = told.iter().any(|fault| fault.ends_with(": field not declared in schema"));
    real == model && told.is_subset(&all) && (stopped || told == all)
}

/// The faults that a message tells, and what it says before.
fn faults(message: &str) -> Option<(&str, BTreeSet<&str>)> {
    let (head, faults) = message.split_once("): ")?;
    let faults = faults.strip_prefix("errors:\n").unwrap_or(faults);
    let applied = head.starts_with("failed to create typed patch object (");
    applied.then(|| (head, faults.lines().map(str::trim).collect()))
}

#[test]
fn faults_may_be_told_in_another_order_or_up_to_an_unknown_field() {
    let message =
        |faults: &str| format!("failed to create typed patch object (/a; /v1, Kind=Event): {faults}");
    let all =
        message("errors:\n  .count: expected numeric, got string\n  .more: field not declared in schema");
    let turned =
        message("errors:\n  .more: field not declared in schema\n  .count: expected numeric, got string");
    assert!(agree(&turned, &all));
    assert!(agree(&message(".more: field not declared in schema"), &all));
    assert!(!agree(&message(".count: expected numeric, got string"), &all));
    assert!(!agree(&message(".other: field not declared in schema"), &all));
}
