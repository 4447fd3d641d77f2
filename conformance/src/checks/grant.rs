//! DriverGrantBucketAccess: what it makes, and for whom.

use tonic::Code;

use super::base::{ACCOUNT_AGAIN, ACCOUNT_ID, ACCOUNT_TAKEN, BUCKET_ID, GRANT, GRANT_INFO};
use super::grant_answer::look_at;
use super::{Check, Severity};
use crate::bench::{Bench, Mode, Stop, Tried, with_other_mode, wrong_id};
use crate::settings::Authentication;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: GRANT,
        severity: Severity::Must,
        requirements: &["COSI-GRANT-1", "COSI-ERR-4"],
        description: "DriverGrantBucketAccess for a new bucket, to read and write, is OK. A driver without it gets a warning.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(can_be_granted(bench)),
    },
    Check {
        id: ACCOUNT_ID,
        severity: Severity::Must,
        requirements: &["COSI-GEN-10"],
        description: "The account_id of a new account has 1 to 2048 characters of those that are allowed.",
        needs: &[GRANT],
        run: |bench| Box::pin(id_is_valid(bench)),
    },
    Check {
        id: GRANT_INFO,
        severity: Severity::Must,
        requirements: &["COSI-GRANT-7", "COSI-GRANT-8", "COSI-GEN-8"],
        description: "The answer has complete info for the bucket and the protocol asked for, credentials of that protocol, and \
                      nothing else.",
        needs: &[GRANT],
        run: |bench| Box::pin(answers_what_was_asked(bench)),
    },
    Check {
        id: ACCOUNT_AGAIN,
        severity: Severity::Must,
        requirements: &["COSI-GRANT-1", "COSI-GRANT-2", "COSI-GEN-3"],
        description: "The same DriverGrantBucketAccess again and again is OK each time, with the same account_id.",
        needs: &[ACCOUNT_ID],
        run: |bench| Box::pin(repeated(bench)),
    },
    Check {
        id: ACCOUNT_TAKEN,
        severity: Severity::Must,
        requirements: &["COSI-GRANT-3", "COSI-ERR-3"],
        description: "DriverGrantBucketAccess for an account_name that was used with another mode, or another bucket, is \
                      ALREADY_EXISTS, and the first account stays as it is.",
        needs: &[ACCOUNT_AGAIN],
        run: |bench| Box::pin(name_taken(bench)),
    },
    Check {
        id: "several-buckets-are-served-or-out-of-range",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-6", "COSI-GRANT-7", "COSI-ERR-5"],
        description: "One DriverGrantBucketAccess for two buckets is OK, with info for both, or OUT_OF_RANGE.",
        needs: &[GRANT_INFO],
        run: |bench| Box::pin(several_buckets(bench)),
    },
    Check {
        id: "the-other-authentication-type-is-served-or-refused",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-8", "COSI-GRANT-10"],
        description: "DriverGrantBucketAccess with the authentication type that was not chosen is OK or INVALID_ARGUMENT.",
        needs: &[GRANT_INFO],
        run: |bench| Box::pin(other_authentication(bench)),
    },
];

async fn can_be_granted(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let answer = bench.grant(&bench.grant_request(&[(&bucket, Mode::ReadWrite)])).await;
    if answer.as_ref().is_err_and(|failure| failure.is(Code::Unimplemented)) {
        bench.unwise(
            "the driver has no DriverGrantBucketAccess: nobody can get access to its buckets by Kubernetes",
        );
        return Ok(());
    }
    bench.expect("access to a bucket is asked for", &answer, &[Code::Ok]);
    Ok(())
}

async fn id_is_valid(bench: &Bench) -> Tried {
    let account = bench.account(&bench.bucket().await?, Mode::ReadWrite).await?;
    if let Some(why) = wrong_id(account.id()) {
        bench.wrong(format!("the account_id of account {}: {why}", account.request.account_name));
    }
    Ok(())
}

async fn answers_what_was_asked(bench: &Bench) -> Tried {
    let account = bench.account(&bench.bucket().await?, Mode::ReadWrite).await?;
    look_at(bench, &account.request, &account.granted, bench.settings().authentication);
    Ok(())
}

async fn repeated(bench: &Bench) -> Tried {
    let account = bench.account(&bench.bucket().await?, Mode::ReadWrite).await?;
    for time in 2..=bench.settings().repeat {
        let answer = bench.grant(&account.request).await;
        bench.expect(&format!("grant {time} of the same"), &answer, &[Code::Ok]);
        match answer {
            Ok(again) if again.account_id != account.id() => bench.wrong(format!(
                "grant {time} of account {} answered id {:?}, the first one {:?}: one of them is an orphan with living keys",
                account.request.account_name,
                again.account_id,
                account.id()
            )),
            _ => {}
        }
    }
    Ok(())
}

async fn name_taken(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let account = bench.account(&bucket, Mode::ReadWrite).await?;
    let answer = bench.grant(&with_other_mode(&account.request)).await;
    if answer.as_ref().is_err_and(|failure| failure.is(Code::InvalidArgument)) {
        bench.note("the driver has no other mode; only another bucket was tried");
    } else {
        bench.expect("the account_name is asked for with another mode", &answer, &[Code::AlreadyExists]);
    }
    let elsewhere = bench.bucket().await?;
    let mut other = bench.grant_request(&[(&elsewhere, Mode::ReadWrite)]);
    other.account_name.clone_from(&account.request.account_name);
    let answer = bench.grant(&other).await;
    bench.expect("the account_name is asked for with another bucket", &answer, &[Code::AlreadyExists]);
    let again = bench.grant(&account.request).await;
    bench.expect("then the first access is asked for again", &again, &[Code::Ok]);
    if again.is_ok_and(|again| again.account_id != account.id()) {
        bench.wrong("after that, the first request answers another id");
    }
    Ok(())
}

async fn several_buckets(bench: &Bench) -> Tried {
    let buckets = [bench.bucket().await?, bench.bucket().await?];
    let [one, other] = &buckets;
    let request = bench.grant_request(&[(one, Mode::ReadWrite), (other, Mode::ReadWrite)]);
    let answer = bench.grant(&request).await;
    bench.expect("access to two buckets is asked for", &answer, &[Code::Ok, Code::OutOfRange]);
    if let Ok(granted) = &answer {
        look_at(bench, &request, granted, bench.settings().authentication);
    } else {
        bench.note("the driver serves one bucket per access");
    }
    Ok(())
}

async fn other_authentication(bench: &Bench) -> Tried {
    let other = bench.settings().authentication.other();
    if other == Authentication::ServiceAccount && bench.settings().service_account.is_empty() {
        return Err(Stop::Skip("no --service-account is given".to_owned()));
    }
    let mut request = bench.grant_request(&[(&bench.bucket().await?, Mode::ReadWrite)]);
    bench.authenticate(&mut request, other);
    let answer = bench.grant(&request).await;
    bench.expect(
        &format!("access with authentication type {} is asked for", other.to_wire().as_str_name()),
        &answer,
        &[Code::Ok, Code::InvalidArgument],
    );
    if let Ok(granted) = &answer {
        look_at(bench, &request, granted, other);
    }
    Ok(())
}
