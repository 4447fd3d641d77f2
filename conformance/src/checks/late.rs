//! Deadlines, and calls that come too late.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tonic::Code;

use super::base::{ACCOUNT_TAKEN, BUCKET_ID, DELETE, GONE_BY_NAME, GRANT, REVOKE, REVOKED_BY_NAME};
use super::{Check, Severity};
use crate::bench::{Account, Bench, Bucket, Mode, Stop, Tried, undo_create, undo_grant, unprepared};
use crate::driver::How;
use crate::driver::failure::Failure;
use crate::driver::rpc::{Create, Grant, Info};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "a-create-past-its-deadline-leaves-nothing-behind",
        severity: Severity::Must,
        requirements: &["COSI-GEN-5", "COSI-DELNAME-1", "COSI-ERR-10"],
        description: "DriverCreateBucket with deadlines that it can't keep is undone by name, or after the grace by its id; then \
                      no bucket appears for as long as the grace.",
        needs: &[BUCKET_ID, DELETE],
        run: |bench| Box::pin(late_creates(bench)),
    },
    Check {
        id: "a-grant-past-its-deadline-leaves-nothing-behind",
        severity: Severity::Must,
        requirements: &["COSI-GEN-5", "COSI-REVNAME-1", "COSI-ERR-10"],
        description: "DriverGrantBucketAccess with deadlines that it can't keep is undone by name, or after the grace by its id; \
                      then no account appears for as long as the grace.",
        needs: &[ACCOUNT_TAKEN, REVOKE],
        run: |bench| Box::pin(late_grants(bench)),
    },
    Check {
        id: "a-create-that-comes-too-late-is-refused",
        severity: Severity::Should,
        requirements: &["COSI-TIME-1", "COSI-GEN-11", "COSI-CREATE-8"],
        description: "DriverCreateBucket whose cosi-not-after-ns is over is FAILED_PRECONDITION, and makes no bucket.",
        needs: &[BUCKET_ID, DELETE],
        run: |bench| Box::pin(create_too_late(bench)),
    },
    Check {
        id: "a-grant-that-comes-too-late-is-refused",
        severity: Severity::Should,
        requirements: &["COSI-TIME-1", "COSI-GEN-11", "COSI-GRANT-9"],
        description: "DriverGrantBucketAccess whose cosi-not-after-ns is over is FAILED_PRECONDITION, and makes no account.",
        needs: &[GRANT, REVOKE],
        run: |bench| Box::pin(grant_too_late(bench)),
    },
];

/// How many deadlines are tried, spread over the time that a call usually takes.
const DEADLINES: u32 = 8;
/// The shortest of them.
const SHORTEST: Duration = Duration::from_millis(1);
/// How long a message may be under way.
const MOMENT: Duration = Duration::from_millis(20);
/// One nanosecond after the machine was started.
const LONG_AGO: How = How { timeout: None, not_after_ns: Some(1) };

fn deadlines(usual: Duration) -> impl Iterator<Item = How> {
    (0..DEADLINES)
        .map(move |n| How { timeout: Some((usual * n / DEADLINES).max(SHORTEST)), not_after_ns: None })
}

/// A call that was still under way to the driver when its caller gave up, or that the driver's server had not looked at yet, is no
/// fault of the driver: it gets a moment, and then what was sent before has begun, or never will.
async fn begun_if_ever(bench: &Bench, usual: Duration) {
    sleep((usual / 4).max(MOMENT)).await;
    let _answered = bench.ask(Info {}).await;
}

fn is_missing(failure: &Failure) -> bool {
    failure.is(Code::Unimplemented)
}

async fn late_creates(bench: &Bench) -> Tried {
    bench.builds_upon(GONE_BY_NAME)?;
    let begun = Instant::now();
    let bucket = bench.bucket().await?;
    let usual = begun.elapsed();
    bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await?;
    let (mut undone, mut open) = (Vec::new(), Vec::new());
    for how in deadlines(usual) {
        let request = bench.create_request();
        // In time or not: in both cases it is undone, and nothing may come after that.
        let _in_time = bench.create_so(&request, how).await;
        begun_if_ever(bench, usual).await;
        match bench.patiently(|| bench.ask(undo_create(&request))).await {
            Ok(_) => undone.push(request),
            Err(failure) if is_missing(&failure) => open.push(request),
            Err(failure) => return Err(unprepared(failure)),
        }
    }
    let grace = bench.settings().late_landing_grace;
    if !open.is_empty() {
        sleep(grace).await;
        for request in open {
            let made = bench.patiently(|| bench.create(&request)).await.map_err(unprepared)?;
            bench.away(&Bucket { id: made.bucket_id, request: request.clone() }).await?;
            undone.push(request);
        }
    }
    sleep(grace).await;
    look_for_buckets(bench, &undone).await
}

async fn look_for_buckets(bench: &Bench, undone: &[Create]) -> Tried {
    for request in undone {
        if bench.bucket_is_there(request, None).await? {
            bench.wrong(format!(
                "bucket {} appeared after it was undone: a create went on after its deadline, and landed late",
                request.name
            ));
        }
    }
    Ok(())
}

async fn late_grants(bench: &Bench) -> Tried {
    bench.builds_upon(REVOKED_BY_NAME)?;
    let bucket = bench.bucket().await?;
    let begun = Instant::now();
    bench.account(&bucket, Mode::ReadWrite).await?;
    let usual = begun.elapsed();
    let (mut undone, mut open) = (Vec::new(), Vec::new());
    for how in deadlines(usual) {
        let request = bench.grant_request(&[(&bucket, Mode::ReadWrite)]);
        let _in_time = bench.grant_so(&request, how).await;
        begun_if_ever(bench, usual).await;
        match bench.patiently(|| bench.ask(undo_grant(&request))).await {
            Ok(_) => undone.push(request),
            Err(failure) if is_missing(&failure) => open.push(request),
            Err(failure) => return Err(unprepared(failure)),
        }
    }
    let grace = bench.settings().late_landing_grace;
    if !open.is_empty() {
        sleep(grace).await;
        for request in open {
            let granted = bench.patiently(|| bench.grant(&request)).await.map_err(unprepared)?;
            let account = Account { granted, request: request.clone() };
            bench.revoke(&account).await.map_err(unprepared)?;
            undone.push(request);
        }
    }
    sleep(grace).await;
    look_for_accounts(bench, &undone).await
}

async fn look_for_accounts(bench: &Bench, undone: &[Grant]) -> Tried {
    for request in undone {
        if bench.account_is_there(request).await? {
            bench.wrong(format!(
                "account {} appeared after it was undone: a grant went on after its deadline, and landed late",
                request.account_name
            ));
        }
    }
    Ok(())
}

/// Says what a driver that does not know the key costs.
fn too_late<T>(bench: &Bench, what: &str, answer: &Result<T, Failure>) {
    match answer {
        Ok(_) => bench.wrong(format!(
            "the driver does not know cosi-not-after-ns: {what} that a paused sidecar sends long after its lease ended is \
             served, and can't be undone by the sidecar that took over"
        )),
        answer => bench.expect(&format!("{what} comes after its last moment"), answer, &[Code::FailedPrecondition]),
    }
}

async fn create_too_late(bench: &Bench) -> Tried {
    let request = bench.create_request();
    let answer = bench.create_so(&request, LONG_AGO).await;
    too_late(bench, "a create", &answer);
    if answer.is_err() {
        match bench.bucket_is_there(&request, None).await {
            Ok(false) => {}
            Ok(true) => {
                bench.wrong(format!(
                    "the create was refused as too late, but bucket {} is there",
                    request.name
                ));
            }
            Err(Stop::Skip(why)) => bench.note(why),
            Err(stop) => return Err(stop),
        }
    }
    Ok(())
}

async fn grant_too_late(bench: &Bench) -> Tried {
    let request = bench.grant_request(&[(&bench.bucket().await?, Mode::ReadWrite)]);
    let answer = bench.grant_so(&request, LONG_AGO).await;
    too_late(bench, "a grant", &answer);
    if answer.is_err() && bench.account_is_there(&request).await? {
        bench.wrong(format!(
            "the grant was refused as too late, but account {} is there",
            request.account_name
        ));
    }
    Ok(())
}
