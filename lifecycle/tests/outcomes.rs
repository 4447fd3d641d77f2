//! C27: each of the 16 codes on each RPC, with its outcome class (R3) and its retry class (the wire protocol).
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use cosi_lifecycle::Outcome::{Busy, NotSent, Refused, Unknown};
use cosi_lifecycle::{Code, Failure, Outcome, Rpc};

const RPCS: [Rpc; 7] = [
    Rpc::CreateBucket,
    Rpc::GetExistingBucket,
    Rpc::DeleteBucket,
    Rpc::DeleteBucketByName,
    Rpc::GrantBucketAccess,
    Rpc::RevokeBucketAccess,
    Rpc::RevokeBucketAccessByName,
];

/// Number, code, outcome, and whether it is terminal; OUT_OF_RANGE depends on the RPC.
const TABLE: [(i32, Code, Outcome, bool); 16] = [
    (1, Code::Cancelled, Unknown, false),
    (2, Code::Unknown, Unknown, false),
    (3, Code::InvalidArgument, Refused, true),
    (4, Code::DeadlineExceeded, Unknown, false),
    (5, Code::NotFound, Refused, false),
    (6, Code::AlreadyExists, Refused, true),
    (7, Code::PermissionDenied, Refused, false),
    (8, Code::ResourceExhausted, Unknown, false),
    (9, Code::FailedPrecondition, Refused, false),
    (10, Code::Aborted, Busy, false),
    (11, Code::OutOfRange, Unknown, false),
    (12, Code::Unimplemented, Refused, true),
    (13, Code::Internal, Unknown, false),
    (14, Code::Unavailable, Unknown, false),
    (15, Code::DataLoss, Unknown, false),
    (16, Code::Unauthenticated, Refused, false),
];

fn answered(code: Code) -> Failure {
    Failure::Answered { code, message: String::new() }
}

#[test]
fn c27_each_code_on_each_rpc_has_its_outcome_and_retry_class() {
    for rpc in RPCS {
        for (_, code, outcome, terminal) in TABLE {
            let of_grant = code == Code::OutOfRange && rpc == Rpc::GrantBucketAccess;
            let expected = if of_grant { (Refused, true) } else { (outcome, terminal) };
            let failure = answered(code);
            assert_eq!((failure.outcome(rpc), failure.is_terminal(rpc)), expected, "{code} to {rpc}");
        }
    }
}

#[test]
fn c27_numbers_are_grpcs_own_and_unknown_ones_are_unknown() {
    for (number, code, ..) in TABLE {
        assert_eq!(Code::from_number(number), code);
    }
    for number in [i32::MIN, -1, 0, 17, 100, i32::MAX] {
        assert_eq!(Code::from_number(number), Code::Unknown, "{number}");
    }
}

#[test]
fn a_code_that_the_client_library_made_up_says_nothing_about_the_call() {
    for rpc in RPCS {
        for code in Code::ALL {
            let failure = Failure::NoAnswer { code, message: String::new() };
            assert_eq!((failure.outcome(rpc), failure.is_terminal(rpc)), (Unknown, false));
        }
        let failure = Failure::NotSent { message: String::new() };
        assert_eq!((failure.outcome(rpc), failure.is_terminal(rpc)), (NotSent, false));
    }
}

#[test]
fn names_are_those_of_the_protocol() {
    let names: Vec<_> = RPCS.iter().map(ToString::to_string).collect();
    assert!(names.iter().all(|name| name.starts_with("Driver")));
    let codes: Vec<_> = Code::ALL.iter().map(ToString::to_string).collect();
    assert!(codes.iter().all(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_')));
}
