//! Each fault that a driver can have is found by the checks that name it, and by no others.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::driver::TestDriver;
use common::vice::Vice;
use common::{conformance, quick};
use cosi_conformance::report::{Report, Verdict, text};
use cosi_conformance::settings::Restart;
use futures::{FutureExt as _, StreamExt as _, stream};

async fn examined(vice: Vice) -> (TestDriver, Report) {
    let driver = TestDriver::start(vice).await;
    let mut settings = quick(&driver.endpoint);
    let core = Arc::clone(&driver.core);
    settings.restart_command = Some(Restart::Call(Arc::new(move || {
        // All that a process loses when it ends, if it keeps anything in memory.
        core.backend().known.clear();
        std::future::ready(Ok(())).boxed()
    })));
    let report = conformance(settings).await;
    (driver, report)
}

fn found(report: &Report) -> BTreeSet<&'static str> {
    let wrong = [report.with(Verdict::Failed), report.with(Verdict::Warned)];
    wrong.concat().into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_driver_passes_everything_and_is_left_empty() {
    let (driver, report) = examined(Vice::None).await;
    assert!(report.is_good() && !report.has_warnings(), "{}", text(&report));
    assert_eq!(report.with(Verdict::Skipped), Vec::<&str>::new(), "{}", text(&report));
    assert_eq!(driver.all(), Vec::<String>::new());
}

/// Each vice, and the checks that name it.
const TABLE: &[(Vice, &[&str])] = &[
    (Vice::NothingWorks, &["a-bucket-can-be-made"]),
    (
        Vice::ErrorsAreInternal,
        &[
            "a-name-taken-with-other-parameters-is-refused",
            "an-unsupported-protocol-is-refused",
            "an-unknown-parameter-is-refused",
            "deleting-by-an-empty-id-is-refused",
            "deleting-by-an-invalid-id-is-refused",
            "a-bad-bucket-name-is-refused",
            "an-unknown-protocol-of-a-bucket-is-refused",
            "a-protocol-asked-for-twice-is-refused",
            "the-largest-parameters-are-served-or-refused",
            "a-bucket-that-is-not-there-is-not-found",
            "an-existing-bucket-without-the-protocol-is-refused",
            "looking-for-an-empty-id-is-refused",
            "deleting-by-an-empty-name-is-refused",
            "an-account-name-taken-by-another-grant-is-refused",
            "the-other-authentication-type-is-served-or-refused",
            "revoking-by-an-empty-id-is-refused",
            "an-unsupported-protocol-of-a-grant-is-refused",
            "an-unknown-parameter-of-a-grant-is-refused",
            "an-unknown-protocol-of-a-grant-is-refused",
            "an-unknown-authentication-type-is-refused",
            "an-unknown-access-mode-is-refused",
            "a-grant-for-no-bucket-or-one-twice-is-refused",
            "a-bad-account-name-is-refused",
            "revoking-by-an-empty-name-is-refused",
            "a-bucket-with-objects-is-kept",
            "a-create-that-comes-too-late-is-refused",
            "a-grant-that-comes-too-late-is-refused",
            "no-code-is-used-for-everything",
        ],
    ),
    (Vice::NoName, &["the-driver-says-who-it-is"]),
    (Vice::NoProtocols, &["the-driver-says-who-it-is"]),
    (Vice::ChangingInfo, &["the-driver-stays-who-it-is"]),
    (Vice::NoHealth, &["health-is-served"]),
    (Vice::NoReflection, &["reflection-is-served"]),
    (Vice::FileBesideSocket, &["nothing-lies-beside-the-socket"]),
    (Vice::SocketOpenToAll, &["the-socket-is-not-open-to-everybody"]),
    (Vice::EmptyBucketId, &["the-id-of-a-bucket-is-valid"]),
    (Vice::EndlessBucketId, &["the-id-of-a-bucket-is-valid"]),
    (Vice::BucketIdWithColon, &["the-id-of-a-bucket-is-valid"]),
    (Vice::NoBucketInfo, &["a-new-bucket-comes-with-protocol-info"]),
    (Vice::InfoOfOtherProtocol, &["a-new-bucket-comes-with-protocol-info"]),
    (Vice::NewBucketEachCreate, &["a-repeated-create-answers-the-same-bucket"]),
    (Vice::ParametersNotCompared, &["a-name-taken-with-other-parameters-is-refused"]),
    (Vice::UnsupportedProtocolAccepted, &["an-unsupported-protocol-is-refused"]),
    (Vice::UnknownProtocolAccepted, &["an-unknown-protocol-of-a-bucket-is-refused"]),
    (Vice::UnknownParameterAccepted, &["an-unknown-parameter-is-refused"]),
    (Vice::EmptyNameAccepted, &["a-bad-bucket-name-is-refused"]),
    (Vice::PanicsOnLongNames, &["the-longest-bucket-name-is-served-or-refused"]),
    (Vice::ShortensNames, &["long-bucket-names-stay-apart"]),
    (Vice::DeleteOfAbsentIsNotFound, &["a-repeated-delete-is-ok", "deleting-a-bucket-that-never-was-is-ok"]),
    (Vice::BucketSurvivesDelete, &["a-deleted-bucket-is-gone", "a-bucket-that-is-not-there-is-not-found"]),
    (
        Vice::DeletesRecursively,
        &["a-bucket-with-objects-is-kept", "a-bucket-with-objects-is-kept-by-name-too"],
    ),
    (Vice::EmptyIdIsNothingToDo, &["deleting-by-an-empty-id-is-refused"]),
    (Vice::NoExisting, &["an-existing-bucket-is-found"]),
    (Vice::ExistingMakesBuckets, &["looking-for-a-bucket-makes-none"]),
    (Vice::NoByName, &["a-bucket-can-be-deleted-by-name", "access-can-be-revoked-by-name"]),
    (Vice::DeleteByNameTakesOthers, &["deleting-by-name-leaves-other-buckets-alone"]),
    (Vice::RevokeByNameTakesOthers, &["revoking-by-name-leaves-other-accounts-alone"]),
    (Vice::DeleteByNameDoesNothing, &["a-bucket-deleted-by-name-is-gone"]),
    (Vice::EmptyAccountId, &["the-id-of-an-account-is-valid"]),
    (Vice::NewAccountEachGrant, &["a-repeated-grant-answers-the-same-account"]),
    (Vice::NewKeyEachGrant, &["repeated-grants-leave-one-living-key"]),
    (Vice::GrantsNotCompared, &["an-account-name-taken-by-another-grant-is-refused"]),
    (Vice::GrantWithoutRegion, &["a-grant-answers-exactly-what-was-asked-for"]),
    (Vice::ServiceAccountInternal, &["the-other-authentication-type-is-served-or-refused"]),
    (Vice::UnknownModeAccepted, &["an-unknown-access-mode-is-refused"]),
    (Vice::UnknownAuthenticationAccepted, &["an-unknown-authentication-type-is-refused"]),
    (Vice::ModeIgnored, &["access-modes-are-enforced"]),
    (Vice::KeyOpensAllBuckets, &["a-key-opens-no-other-bucket"]),
    (Vice::KeySurvivesRevoke, &["a-revoked-key-is-dead"]),
    (Vice::AccountSurvivesRevoke, &["a-revoked-account-is-gone", "a-revoked-key-is-dead"]),
    (Vice::RevokeNeedsBucket, &["revoking-works-without-the-bucket"]),
    (Vice::OneBucketIsInternal, &["several-buckets-are-served-or-out-of-range"]),
    (Vice::CreateLandsLate, &["a-create-past-its-deadline-leaves-nothing-behind"]),
    (Vice::GrantLandsLate, &["a-grant-past-its-deadline-leaves-nothing-behind"]),
    (
        Vice::NotAfterUnknown,
        &["a-create-that-comes-too-late-is-refused", "a-grant-that-comes-too-late-is-refused"],
    ),
    (Vice::RaceLeavesBucket, &["making-and-deleting-by-name-at-once-leaves-nothing"]),
    (Vice::OverlappingCreatesMakeTwo, &["many-creates-at-once-make-one-bucket"]),
    (Vice::ForgetsOnRestart, &["a-restart-forgets-no-bucket", "a-restart-forgets-no-name"]),
    (Vice::EmptyMessages, &["every-error-has-a-message"]),
    (Vice::Details, &["no-error-has-details"]),
    (Vice::EndlessMessages, &["error-messages-are-short"]),
    (Vice::CredentialInMessage, &["no-error-tells-a-credential"]),
    (Vice::ParameterInMessage, &["no-error-tells-a-parameter"]),
];

/// They say that something is gone which stays, or make what nobody asked for: no caller can clean up after them.
const LIARS: &[Vice] = &[Vice::BucketSurvivesDelete, Vice::AccountSurvivesRevoke, Vice::ExistingMakesBuckets];

/// They can't undo what they made, or may have made, and say so: it is in the report.
const HELPLESS: &[Vice] = &[Vice::NothingWorks, Vice::ErrorsAreInternal, Vice::RevokeNeedsBucket];

/// How many drivers are examined at once.
const SIDE_BY_SIDE: usize = 16;

#[tokio::test(flavor = "multi_thread")]
async fn each_vice_is_found_by_the_checks_that_name_it_and_by_no_others() {
    let mut wrong = Vec::new();
    let examine = |(vice, wanted): &'static (Vice, &[&str])| async move {
        let (driver, report) = examined(*vice).await;
        let (all, told) = (driver.all(), &report.left_over);
        assert!(all.is_empty() || !told.is_empty() || LIARS.contains(vice), "{vice:?} is left with {all:?}");
        assert!(told.is_empty() || HELPLESS.contains(vice), "{vice:?}: {told:?}");
        let (found, wanted) = (found(&report), wanted.iter().copied().collect::<BTreeSet<_>>());
        (found != wanted).then(|| {
            let missed: Vec<_> = wanted.difference(&found).collect();
            let more: Vec<_> = found.difference(&wanted).collect();
            format!("{vice:?}: not found by {missed:?}, found by {more:?} too\n{}", text(&report))
        })
    };
    // Not all at once: a driver that gets no processor for a while lands late, too.
    let mut examined =
        stream::iter(TABLE).map(|row| tokio::spawn(examine(row))).buffer_unordered(SIDE_BY_SIDE);
    while let Some(row) = examined.next().await {
        wrong.extend(row.unwrap());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
