//! DriverGetExistingBucket.

use tonic::Code;

use super::base::{BUCKET, BUCKET_ID, DELETE, EXISTING};
use super::{Check, Severity};
use crate::bench::{Bench, Stop, Tried, protocols_of, unprepared, wire_protocol, wrong_id};
use crate::driver::rpc::Existing;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: EXISTING,
        severity: Severity::Must,
        requirements: &["COSI-EXISTING-4", "COSI-GEN-3", "COSI-ERR-4"],
        description: "DriverGetExistingBucket finds a bucket by its id, again and again, with a valid id and info for the \
                      protocol asked for.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(is_found(bench)),
    },
    Check {
        id: "a-bucket-that-is-not-there-is-not-found",
        severity: Severity::Must,
        requirements: &["COSI-EXISTING-2"],
        description: "DriverGetExistingBucket for a bucket that was deleted is NOT_FOUND.",
        needs: &[EXISTING, DELETE],
        run: |bench| Box::pin(not_found(bench)),
    },
    Check {
        id: "looking-for-a-bucket-makes-none",
        severity: Severity::Must,
        requirements: &["COSI-EXISTING-1"],
        description: "After DriverGetExistingBucket was NOT_FOUND, the same call is NOT_FOUND again.",
        needs: &["a-bucket-that-is-not-there-is-not-found"],
        run: |bench| Box::pin(makes_none(bench)),
    },
    Check {
        id: "an-existing-bucket-without-the-protocol-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-EXISTING-3"],
        description: "DriverGetExistingBucket with a protocol that the driver does not support is INVALID_ARGUMENT.",
        needs: &[EXISTING],
        run: |bench| Box::pin(unsupported_protocol(bench)),
    },
    Check {
        id: "looking-for-an-empty-id-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-10"],
        description: "DriverGetExistingBucket with an empty id is INVALID_ARGUMENT.",
        needs: &[BUCKET, EXISTING],
        run: |bench| Box::pin(empty_id(bench)),
    },
];

async fn is_found(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let mut ids = Vec::new();
    for _ in 0..bench.settings().repeat {
        match bench.ask(bench.existing_request(&bucket.id)).await {
            Err(failure) if failure.is(Code::Unimplemented) => {
                bench.unwise(
                    "the driver has no DriverGetExistingBucket: Buckets made by hand can't be used with it",
                );
                return Ok(());
            }
            Err(failure) => {
                bench.wrong(format!("a bucket that is there is asked for: {failure}. OK would be right"));
                return Ok(());
            }
            Ok(found) => {
                if let Some(why) = wrong_id(&found.bucket_id) {
                    bench.wrong(format!("the bucket_id of the bucket: {why}"));
                }
                let there = found.protocols.as_ref().map(protocols_of).unwrap_or_default();
                if !there.contains(&bench.shared.protocol()) {
                    bench.wrong("the answer has no info for the protocol asked for");
                }
                ids.push(found.bucket_id);
            }
        }
    }
    ids.dedup();
    if ids.len() > 1 {
        bench.wrong(format!("the same call answered different ids: {}", ids.join(", ")));
    }
    Ok(())
}

/// The id of a bucket that is not there any more.
async fn lost(bench: &Bench) -> Result<String, Stop> {
    let bucket = bench.bucket().await?;
    bench.away(&bucket).await?;
    Ok(bucket.id)
}

async fn not_found(bench: &Bench) -> Tried {
    let id = lost(bench).await?;
    let answer = bench.ask(bench.existing_request(&id)).await;
    bench.expect("a bucket that is not there is asked for", &answer, &[Code::NotFound]);
    Ok(())
}

async fn makes_none(bench: &Bench) -> Tried {
    let id = lost(bench).await?;
    for _ in 0..bench.settings().repeat {
        let answer = bench.ask(bench.existing_request(&id)).await;
        bench.expect("a bucket that is not there is asked for again", &answer, &[Code::NotFound]);
    }
    Ok(())
}

async fn unsupported_protocol(bench: &Bench) -> Tried {
    let foreign = bench.shared.foreign_protocol();
    let foreign = foreign.ok_or_else(|| Stop::Skip("the driver supports every protocol".to_owned()))?;
    let bucket = bench.create(&bench.create_request()).await.map_err(unprepared)?;
    let mut request = bench.existing_request(&bucket.bucket_id);
    request.protocols = vec![wire_protocol(foreign)];
    let answer = bench.ask(request).await;
    bench.expect(
        &format!("a bucket is asked for with {}", foreign.as_str_name()),
        &answer,
        &[Code::InvalidArgument],
    );
    Ok(())
}

async fn empty_id(bench: &Bench) -> Tried {
    let answer = bench.ask(Existing::default()).await;
    bench.expect("a bucket is asked for by an empty id", &answer, &[Code::InvalidArgument]);
    Ok(())
}
