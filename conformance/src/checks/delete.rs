//! DriverDeleteBucket.

use tonic::Code;

use super::base::{BUCKET, BUCKET_ID, DELETE};
use super::{Check, Severity};
use crate::bench::{Bench, Stop, Tried, UNKNOWN_PARAMETER};
use crate::driver::rpc::Delete;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: DELETE,
        severity: Severity::Must,
        requirements: &["COSI-DELETE-2", "COSI-DELETE-4"],
        description: "DriverDeleteBucket with the id of a new bucket is OK.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(can_be_deleted(bench)),
    },
    Check {
        id: "a-deleted-bucket-is-gone",
        severity: Severity::Must,
        requirements: &["COSI-DELETE-2"],
        description: "After DriverDeleteBucket was OK, the bucket is not found any more, or its name is free again.",
        needs: &[DELETE],
        run: |bench| Box::pin(is_gone(bench)),
    },
    Check {
        id: "a-repeated-delete-is-ok",
        severity: Severity::Must,
        requirements: &["COSI-DELETE-1", "COSI-GEN-3", "COSI-ERR-6"],
        description: "The same DriverDeleteBucket again and again is OK each time.",
        needs: &[DELETE],
        run: |bench| Box::pin(repeated(bench)),
    },
    Check {
        id: "deleting-a-bucket-that-never-was-is-ok",
        severity: Severity::Must,
        requirements: &["COSI-DELETE-1", "COSI-ERR-6"],
        description: "DriverDeleteBucket with an id like those of the driver, of which no bucket was ever made, is OK.",
        needs: &[DELETE],
        run: |bench| Box::pin(never_was(bench)),
    },
    Check {
        id: "unknown-parameters-do-not-block-a-delete",
        severity: Severity::Should,
        requirements: &["COSI-DELETE-5"],
        description: "DriverDeleteBucket with a parameter that the driver does not know is OK.",
        needs: &[DELETE],
        run: |bench| Box::pin(unknown_parameter(bench)),
    },
    Check {
        id: "deleting-by-an-empty-id-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-10"],
        description: "DriverDeleteBucket with an empty bucket_id is INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(empty_id(bench)),
    },
    Check {
        id: "deleting-by-an-invalid-id-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-10", "COSI-GEN-12"],
        description: "DriverDeleteBucket with a bucket_id of 2049 characters, or with one that is not allowed, is \
                      INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(invalid_id(bench)),
    },
    Check {
        id: "the-longest-bucket-id-is-served-or-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-10", "COSI-DELETE-1"],
        description: "DriverDeleteBucket with a bucket_id of 2048 characters is OK or INVALID_ARGUMENT.",
        needs: &["deleting-a-bucket-that-never-was-is-ok"],
        run: |bench| Box::pin(longest_id(bench)),
    },
];

fn delete(bucket_id: impl Into<String>) -> Delete {
    Delete { bucket_id: bucket_id.into(), ..Delete::default() }
}

async fn can_be_deleted(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    bench.expect("an empty bucket is deleted", &bench.delete(&bucket).await, &[Code::Ok]);
    Ok(())
}

async fn is_gone(bench: &Bench) -> Tried {
    if bench.sight().await?.deleted_buckets_stay() {
        bench.wrong("a bucket is still there after its deletion was OK");
        return Ok(());
    }
    let bucket = bench.bucket().await?;
    if !bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await? {
        return Err(Stop::Fail(format!("bucket {} can't be seen before it is deleted", bucket.request.name)));
    }
    bench.away(&bucket).await?;
    if bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await? {
        bench.wrong(format!("bucket {} is still there after its deletion was OK", bucket.request.name));
    }
    Ok(())
}

async fn repeated(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    bench.away(&bucket).await?;
    for time in 2..=bench.settings().repeat {
        bench.expect(&format!("delete {time} of the same bucket"), &bench.delete(&bucket).await, &[Code::Ok]);
    }
    Ok(())
}

async fn never_was(bench: &Bench) -> Tried {
    let mut id = bench.bucket().await?.id;
    // As long as a real one: a driver may know its ids by their form.
    let last = if id.pop() == Some('0') { '1' } else { '0' };
    id.push(last);
    let answer = bench.ask(delete(id)).await;
    bench.expect("a bucket is deleted that never was there", &answer, &[Code::Ok]);
    Ok(())
}

async fn unknown_parameter(bench: &Bench) -> Tried {
    let mut bucket = bench.bucket().await?;
    let known = bucket.request.clone();
    bucket.request.parameters.insert(UNKNOWN_PARAMETER.to_owned(), "1".to_owned());
    let answer = bench.delete(&bucket).await;
    bench.expect("a bucket is deleted with a parameter that the driver does not know", &answer, &[Code::Ok]);
    if answer.is_ok() {
        bench.made.bucket_gone(&known, &bucket.id);
    }
    Ok(())
}

async fn empty_id(bench: &Bench) -> Tried {
    let answer = bench.ask(delete("")).await;
    bench.expect("a bucket is deleted by an empty id", &answer, &[Code::InvalidArgument]);
    Ok(())
}

async fn invalid_id(bench: &Bench) -> Tried {
    for (what, id) in
        [("2049 characters", "x".repeat(2049)), ("a colon", "a:b".to_owned()), ("a space", "a b".to_owned())]
    {
        let answer = bench.ask(delete(id)).await;
        bench.expect(&format!("a bucket is deleted by an id with {what}"), &answer, &[Code::InvalidArgument]);
    }
    Ok(())
}

async fn longest_id(bench: &Bench) -> Tried {
    let answer = bench.ask(delete("x".repeat(2048))).await;
    bench.expect(
        "a bucket is deleted by an id of 2048 characters",
        &answer,
        &[Code::Ok, Code::InvalidArgument],
    );
    Ok(())
}
