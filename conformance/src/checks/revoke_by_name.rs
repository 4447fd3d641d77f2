//! DriverRevokeBucketAccessByName.

use tonic::Code;

use super::base::{ACCOUNT_ID, ACCOUNT_TAKEN, REVOKE, REVOKE_BY_NAME, REVOKED_BY_NAME};
use super::{Check, Severity};
use crate::bench::{Account, Bench, Mode, Stop, Tried, UNKNOWN_PARAMETER, undo_grant};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: REVOKE_BY_NAME,
        severity: Severity::Must,
        requirements: &["COSI-REVNAME-1", "COSI-REVNAME-4"],
        description: "DriverRevokeBucketAccessByName with the fields of a grant is OK. A driver without it gets a warning.",
        needs: &[ACCOUNT_ID],
        run: |bench| Box::pin(can_be_revoked(bench)),
    },
    Check {
        id: REVOKED_BY_NAME,
        severity: Severity::Must,
        requirements: &["COSI-REVNAME-1"],
        description: "After DriverRevokeBucketAccessByName was OK, the account_name is free for another grant.",
        needs: &[REVOKE_BY_NAME, REVOKE, ACCOUNT_TAKEN],
        run: |bench| Box::pin(is_gone(bench)),
    },
    Check {
        id: "revoking-by-name-again-or-for-nothing-is-ok",
        severity: Severity::Must,
        requirements: &["COSI-REVNAME-1", "COSI-GEN-3", "COSI-ERR-6"],
        description: "DriverRevokeBucketAccessByName for an account that is gone, or never was, is OK each time.",
        needs: &[REVOKE_BY_NAME],
        run: |bench| Box::pin(of_nothing(bench)),
    },
    Check {
        id: "revoking-by-name-leaves-other-accounts-alone",
        severity: Severity::Must,
        requirements: &["COSI-REVNAME-3"],
        description: "DriverRevokeBucketAccessByName with a bucket for which a grant is ALREADY_EXISTS is OK and revokes nothing.",
        needs: &[REVOKE_BY_NAME, REVOKE, ACCOUNT_TAKEN],
        run: |bench| Box::pin(leaves_others(bench)),
    },
    Check {
        id: "unknown-parameters-do-not-block-a-revoke-by-name",
        severity: Severity::Should,
        requirements: &["COSI-REVNAME-6"],
        description: "DriverRevokeBucketAccessByName with parameters that a grant would refuse is OK.",
        needs: &[REVOKE_BY_NAME],
        run: |bench| Box::pin(unknown_parameter(bench)),
    },
    Check {
        id: "revoking-by-an-empty-name-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12"],
        description: "DriverRevokeBucketAccessByName with an empty account_name is INVALID_ARGUMENT.",
        needs: &[REVOKE_BY_NAME],
        run: |bench| Box::pin(empty_name(bench)),
    },
];

async fn new_account(bench: &Bench) -> Result<Account, Stop> {
    let bucket = bench.bucket().await?;
    bench.account(&bucket, Mode::ReadWrite).await
}

async fn can_be_revoked(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    match bench.revoke_by_name(&account.request).await {
        Err(failure) if failure.is(Code::Unimplemented) => bench.unwise(
            "the driver has no DriverRevokeBucketAccessByName: a grant whose answer was lost can be undone only by repeating \
             it, which makes an account just to revoke it, and never ends while the bucket is gone",
        ),
        answer => bench.expect("an account is revoked by its name", &answer, &[Code::Ok]),
    }
    Ok(())
}

async fn is_gone(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    let answer = bench.revoke_by_name(&account.request).await;
    bench.expect("an account is revoked by its name", &answer, &[Code::Ok]);
    if answer.is_ok() && bench.account_is_there(&account.request).await? {
        bench.wrong(format!(
            "account {} is still there after its revocation by name was OK",
            account.request.account_name
        ));
    }
    Ok(())
}

async fn of_nothing(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    for time in 1..=bench.settings().repeat {
        let answer = bench.revoke_by_name(&account.request).await;
        bench.expect(&format!("revoke {time} by the same name"), &answer, &[Code::Ok]);
    }
    let mut other = account.request;
    other.account_name = bench.name();
    let answer = bench.revoke_by_name(&other).await;
    bench.expect("an account is revoked by a name that never had one", &answer, &[Code::Ok]);
    Ok(())
}

async fn leaves_others(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    let mut other = bench.grant_request(&[(&bench.bucket().await?, Mode::ReadWrite)]);
    other.account_name.clone_from(&account.request.account_name);
    let answer = bench.patiently(|| bench.ask(undo_grant(&other))).await;
    bench.expect("an account is revoked by its name with another bucket", &answer, &[Code::Ok]);
    if !bench.account_is_there(&account.request).await? {
        bench.wrong(format!(
            "revoking by name with another bucket took account {} away, which a grant for that bucket would not have taken for \
             its own",
            account.request.account_name
        ));
    }
    Ok(())
}

async fn unknown_parameter(bench: &Bench) -> Tried {
    let mut request = bench.grant_request(&[(&bench.bucket().await?, Mode::ReadWrite)]);
    request.parameters.insert(UNKNOWN_PARAMETER.to_owned(), "1".to_owned());
    let answer = bench.ask(undo_grant(&request)).await;
    bench.expect(
        "an account is revoked by name with a parameter that the driver does not know",
        &answer,
        &[Code::Ok],
    );
    Ok(())
}

async fn empty_name(bench: &Bench) -> Tried {
    let mut request = bench.grant_request(&[(&bench.bucket().await?, Mode::ReadWrite)]);
    request.account_name.clear();
    let answer = bench.ask(undo_grant(&request)).await;
    bench.expect("an account is revoked by an empty name", &answer, &[Code::InvalidArgument]);
    Ok(())
}
