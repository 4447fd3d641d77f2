//! DriverRevokeBucketAccess.

use tonic::Code;

use super::base::{ACCOUNT_ID, ACCOUNT_TAKEN, DELETE, GRANT, REVOKE};
use super::{Check, Severity};
use crate::bench::{Account, Bench, Mode, Stop, Tried, UNKNOWN_PARAMETER};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: REVOKE,
        severity: Severity::Must,
        requirements: &["COSI-REVOKE-2"],
        description: "DriverRevokeBucketAccess with the id of a new account is OK.",
        needs: &[ACCOUNT_ID],
        run: |bench| Box::pin(can_be_revoked(bench)),
    },
    Check {
        id: "a-revoked-account-is-gone",
        severity: Severity::Must,
        requirements: &["COSI-REVOKE-2"],
        description: "After DriverRevokeBucketAccess was OK, the account_name is free for another grant.",
        needs: &[REVOKE, ACCOUNT_TAKEN],
        run: |bench| Box::pin(is_gone(bench)),
    },
    Check {
        id: "a-repeated-revoke-is-ok",
        severity: Severity::Must,
        requirements: &["COSI-REVOKE-1", "COSI-GEN-3", "COSI-ERR-6"],
        description: "The same DriverRevokeBucketAccess again and again is OK each time.",
        needs: &[REVOKE],
        run: |bench| Box::pin(repeated(bench)),
    },
    Check {
        id: "revoking-an-account-that-never-was-is-ok",
        severity: Severity::Must,
        requirements: &["COSI-REVOKE-1", "COSI-ERR-6"],
        description: "DriverRevokeBucketAccess with an id like those of the driver, of which no account was ever made, is OK.",
        needs: &[REVOKE],
        run: |bench| Box::pin(never_was(bench)),
    },
    Check {
        id: "revoking-works-without-the-bucket",
        severity: Severity::Must,
        requirements: &["COSI-REVOKE-3"],
        description: "DriverRevokeBucketAccess is OK after the bucket of the account was deleted.",
        needs: &[REVOKE, DELETE],
        run: |bench| Box::pin(without_bucket(bench)),
    },
    Check {
        id: "unknown-parameters-do-not-block-a-revoke",
        severity: Severity::Should,
        requirements: &["COSI-REVOKE-4"],
        description: "DriverRevokeBucketAccess with a parameter that the driver does not know is OK.",
        needs: &[REVOKE],
        run: |bench| Box::pin(unknown_parameter(bench)),
    },
    Check {
        id: "revoking-by-an-empty-id-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-10"],
        description: "DriverRevokeBucketAccess with an empty account_id is INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(empty_id(bench)),
    },
    Check {
        id: "the-longest-account-id-is-served-or-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-10", "COSI-REVOKE-1"],
        description: "DriverRevokeBucketAccess with an account_id of 2048 characters is OK or INVALID_ARGUMENT.",
        needs: &["revoking-an-account-that-never-was-is-ok"],
        run: |bench| Box::pin(longest_id(bench)),
    },
];

async fn new_account(bench: &Bench) -> Result<Account, Stop> {
    let bucket = bench.bucket().await?;
    bench.account(&bucket, Mode::ReadWrite).await
}

async fn can_be_revoked(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    bench.expect("an account is revoked", &bench.revoke(&account).await, &[Code::Ok]);
    Ok(())
}

async fn is_gone(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    bench.expect("an account is revoked", &bench.revoke(&account).await, &[Code::Ok]);
    if bench.account_is_there(&account.request).await? {
        bench.wrong(format!(
            "account {} is still there after its revocation was OK",
            account.request.account_name
        ));
    }
    Ok(())
}

async fn repeated(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    for time in 1..=bench.settings().repeat {
        bench.expect(
            &format!("revoke {time} of the same account"),
            &bench.revoke(&account).await,
            &[Code::Ok],
        );
    }
    Ok(())
}

async fn never_was(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    let mut other = account.clone();
    // As long as a real one: a driver may know its ids by their form.
    let last = if other.granted.account_id.pop() == Some('0') { '1' } else { '0' };
    other.granted.account_id.push(last);
    bench.expect("an account is revoked that never was there", &bench.revoke(&other).await, &[Code::Ok]);
    Ok(())
}

async fn without_bucket(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let account = bench.account(&bucket, Mode::ReadWrite).await?;
    match bench.patiently(|| bench.delete(&bucket)).await {
        Err(failure) if failure.is(Code::FailedPrecondition) => {
            return Err(Stop::Skip("the driver keeps a bucket while it has accounts".to_owned()));
        }
        answer => bench.expect("the bucket of an account is deleted", &answer, &[Code::Ok]),
    }
    bench.expect("then the account is revoked", &bench.revoke(&account).await, &[Code::Ok]);
    Ok(())
}

async fn unknown_parameter(bench: &Bench) -> Tried {
    let account = new_account(bench).await?;
    let mut other = account.clone();
    other.request.parameters.insert(UNKNOWN_PARAMETER.to_owned(), "1".to_owned());
    let answer = bench.revoke(&other).await;
    bench.expect(
        "an account is revoked with a parameter that the driver does not know",
        &answer,
        &[Code::Ok],
    );
    if answer.is_ok() {
        bench.made.account_gone(&account.request, account.id());
    }
    Ok(())
}

async fn revoke_by_id(bench: &Bench, id: &str, what: &str, codes: &[Code]) -> Tried {
    let mut account = new_account(bench).await?;
    id.clone_into(&mut account.granted.account_id);
    bench.expect(what, &bench.revoke(&account).await, codes);
    Ok(())
}

async fn empty_id(bench: &Bench) -> Tried {
    revoke_by_id(bench, "", "an account is revoked by an empty id", &[Code::InvalidArgument]).await
}

async fn longest_id(bench: &Bench) -> Tried {
    let codes = [Code::Ok, Code::InvalidArgument];
    revoke_by_id(bench, &"x".repeat(2048), "an account is revoked by an id of 2048 characters", &codes).await
}
