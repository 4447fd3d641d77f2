//! Many calls at once.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::{join, join_all};
use futures::{TryStreamExt as _, stream};
use tokio::time::{Instant, sleep};
use tonic::Code;

use super::base::{ACCOUNT_AGAIN, BUCKET_AGAIN, DELETE_BY_NAME, GONE_BY_NAME, REVOKED_BY_NAME};
use super::{Check, Severity};
use crate::bench::{Bench, Bucket, Mode, Tried, undo_create, undo_grant, unprepared};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "many-creates-at-once-make-one-bucket",
        severity: Severity::Must,
        requirements: &["COSI-GEN-4", "COSI-CREATE-2", "COSI-ERR-7"],
        description: "The same DriverCreateBucket from several callers at once is OK with one bucket_id, or ABORTED.",
        needs: &[BUCKET_AGAIN],
        run: |bench| Box::pin(many_creates(bench)),
    },
    Check {
        id: "many-grants-at-once-make-one-account",
        severity: Severity::Must,
        requirements: &["COSI-GEN-4", "COSI-GRANT-2", "COSI-ERR-7"],
        description: "The same DriverGrantBucketAccess from several callers at once is OK with one account_id, or ABORTED.",
        needs: &[ACCOUNT_AGAIN],
        run: |bench| Box::pin(many_grants(bench)),
    },
    Check {
        id: "making-and-deleting-by-name-at-once-leaves-nothing",
        severity: Severity::Must,
        requirements: &["COSI-DELNAME-1", "COSI-DELNAME-2", "COSI-GEN-4", "COSI-ERR-7"],
        description: "DriverCreateBucket and DriverDeleteBucketByName for one name at once are OK or ABORTED, and after one more \
                      delete by name there is no bucket; many times.",
        needs: &[DELETE_BY_NAME],
        run: |bench| Box::pin(create_against_delete(bench)),
    },
    Check {
        id: "granting-and-revoking-by-name-at-once-leaves-nothing",
        severity: Severity::Must,
        requirements: &["COSI-REVNAME-1", "COSI-REVNAME-2", "COSI-GEN-4", "COSI-ERR-7"],
        description: "DriverGrantBucketAccess and DriverRevokeBucketAccessByName for one name at once are OK or ABORTED, and \
                      after one more revoke by name there is no account; many times.",
        needs: &[REVOKED_BY_NAME],
        run: |bench| Box::pin(grant_against_revoke(bench)),
    },
];

/// How many races run side by side.
const SIDE_BY_SIDE: usize = 8;

async fn many_creates(bench: &Bench) -> Tried {
    let request = bench.create_request();
    let answers = join_all((0..bench.settings().callers).map(|_| bench.create(&request))).await;
    let mut ids = BTreeSet::new();
    for answer in &answers {
        bench.expect("one of many creates at once", answer, &[Code::Ok, Code::Aborted]);
        ids.extend(answer.as_ref().ok().map(|made| made.bucket_id.as_str()));
    }
    let after = bench.patiently(|| bench.create(&request)).await;
    bench.expect("one more create after many at once", &after, &[Code::Ok]);
    ids.extend(after.as_ref().ok().map(|made| made.bucket_id.as_str()));
    if ids.len() > 1 {
        bench.wrong(format!(
            "creates of bucket {} at once answered {} different ids",
            request.name,
            ids.len()
        ));
    }
    Ok(())
}

async fn many_grants(bench: &Bench) -> Tried {
    let request = bench.grant_request(&[(&bench.bucket().await?, Mode::ReadWrite)]);
    let answers = join_all((0..bench.settings().callers).map(|_| bench.grant(&request))).await;
    let mut ids = BTreeSet::new();
    for answer in &answers {
        bench.expect("one of many grants at once", answer, &[Code::Ok, Code::Aborted]);
        ids.extend(answer.as_ref().ok().map(|made| made.account_id.as_str()));
    }
    let after = bench.patiently(|| bench.grant(&request)).await;
    bench.expect("one more grant after many at once", &after, &[Code::Ok]);
    ids.extend(after.as_ref().ok().map(|made| made.account_id.as_str()));
    if ids.len() > 1 {
        bench.wrong(format!(
            "grants of account {} at once answered {} different ids",
            request.account_name,
            ids.len()
        ));
    }
    Ok(())
}

/// Runs the races, of which each is told when which side begins: as late as the other one takes, at most.
async fn races<F>(bench: &Bench, usual: Duration, race: impl Fn(Duration, Duration) -> F) -> Tried
where
    F: Future<Output = Tried>,
{
    let rounds = (0..bench.settings().rounds).map(|round| {
        let late = usual.mul_f32(rand::random::<f32>());
        Ok(if round % 2 == 0 { race(Duration::ZERO, late) } else { race(late, Duration::ZERO) })
    });
    stream::iter(rounds).try_for_each_concurrent(SIDE_BY_SIDE, |race| race).await
}

async fn create_against_delete(bench: &Bench) -> Tried {
    let begun = Instant::now();
    let bucket = bench.bucket().await?;
    let usual = begun.elapsed();
    bench.builds_upon(GONE_BY_NAME)?;
    // What can't be seen is no reason not to look at the answers.
    let sight = bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await;
    let look = sight.is_ok();
    races(bench, usual, |create_after, delete_after| bucket_race(bench, create_after, delete_after, look))
        .await?;
    sight.map(drop)
}

async fn bucket_race(bench: &Bench, create_after: Duration, delete_after: Duration, look: bool) -> Tried {
    let request = bench.create_request();
    let create = async {
        sleep(create_after).await;
        bench.create(&request).await
    };
    let delete = async {
        sleep(delete_after).await;
        bench.ask(undo_create(&request)).await
    };
    let (made, undone) = join(create, delete).await;
    bench.expect("a create beside a delete by name", &made, &[Code::Ok, Code::Aborted]);
    bench.expect("a delete by name beside a create", &undone, &[Code::Ok, Code::Aborted]);
    bench.delete_by_name(&request).await.map_err(unprepared)?;
    let id = made.as_ref().ok().map(|made| made.bucket_id.as_str());
    if look && bench.bucket_is_there(&request, id).await? {
        bench.wrong(format!(
            "bucket {} is there after a create and a delete by name at once, though one more delete by name was OK",
            request.name
        ));
    }
    Ok(())
}

async fn grant_against_revoke(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let begun = Instant::now();
    bench.account(&bucket, Mode::ReadWrite).await?;
    let usual = begun.elapsed();
    races(bench, usual, |grant_after, revoke_after| account_race(bench, &bucket, grant_after, revoke_after))
        .await
}

async fn account_race(
    bench: &Bench,
    bucket: &Bucket,
    grant_after: Duration,
    revoke_after: Duration,
) -> Tried {
    let request = bench.grant_request(&[(bucket, Mode::ReadWrite)]);
    let grant = async {
        sleep(grant_after).await;
        bench.grant(&request).await
    };
    let revoke = async {
        sleep(revoke_after).await;
        bench.ask(undo_grant(&request)).await
    };
    let (made, undone) = join(grant, revoke).await;
    bench.expect("a grant beside a revoke by name", &made, &[Code::Ok, Code::Aborted]);
    bench.expect("a revoke by name beside a grant", &undone, &[Code::Ok, Code::Aborted]);
    bench.revoke_by_name(&request).await.map_err(unprepared)?;
    if bench.account_is_there(&request).await? {
        bench.wrong(format!(
            "account {} is there after a grant and a revoke by name at once, though one more revoke by name was OK",
            request.account_name
        ));
    }
    Ok(())
}
