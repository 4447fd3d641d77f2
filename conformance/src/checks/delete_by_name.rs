//! DriverDeleteBucketByName.

use tonic::Code;

use super::base::{BUCKET_ID, DELETE, DELETE_BY_NAME, GONE_BY_NAME, NAME_TAKEN};
use super::{Check, Severity};
use crate::bench::{Bench, Stop, Tried, UNKNOWN_PARAMETER, undo_create};
use crate::driver::rpc::DeleteByName;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: DELETE_BY_NAME,
        severity: Severity::Must,
        requirements: &["COSI-DELNAME-1", "COSI-DELNAME-4"],
        description: "DriverDeleteBucketByName with the fields of a create is OK. A driver without it gets a warning.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(can_be_deleted(bench)),
    },
    Check {
        id: GONE_BY_NAME,
        severity: Severity::Must,
        requirements: &["COSI-DELNAME-1"],
        description: "After DriverDeleteBucketByName was OK, the bucket is not found any more, or its name is free again.",
        needs: &[DELETE_BY_NAME, DELETE],
        run: |bench| Box::pin(is_gone(bench)),
    },
    Check {
        id: "deleting-by-name-again-or-for-nothing-is-ok",
        severity: Severity::Must,
        requirements: &["COSI-DELNAME-1", "COSI-GEN-3", "COSI-ERR-6"],
        description: "DriverDeleteBucketByName for a bucket that is gone, or never was, is OK each time.",
        needs: &[DELETE_BY_NAME],
        run: |bench| Box::pin(of_nothing(bench)),
    },
    Check {
        id: "deleting-by-name-leaves-other-buckets-alone",
        severity: Severity::Must,
        requirements: &["COSI-DELNAME-3"],
        description: "DriverDeleteBucketByName with parameters for which a create is ALREADY_EXISTS is OK and deletes nothing.",
        needs: &[DELETE_BY_NAME, DELETE, NAME_TAKEN],
        run: |bench| Box::pin(leaves_others(bench)),
    },
    Check {
        id: "unknown-parameters-do-not-block-a-delete-by-name",
        severity: Severity::Should,
        requirements: &["COSI-DELNAME-7"],
        description: "DriverDeleteBucketByName with parameters that a create would refuse is OK.",
        needs: &[DELETE_BY_NAME],
        run: |bench| Box::pin(unknown_parameter(bench)),
    },
    Check {
        id: "deleting-by-an-empty-name-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12"],
        description: "DriverDeleteBucketByName with an empty name is INVALID_ARGUMENT.",
        needs: &[DELETE_BY_NAME],
        run: |bench| Box::pin(empty_name(bench)),
    },
];

async fn can_be_deleted(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    match bench.delete_by_name(&bucket.request).await {
        Err(failure) if failure.is(Code::Unimplemented) => bench.unwise(
            "the driver has no DriverDeleteBucketByName: a create whose answer was lost can be undone only by repeating \
             it, which makes a bucket just to delete it, and never ends while the backend can't make one",
        ),
        answer => bench.expect("a bucket is deleted by its name", &answer, &[Code::Ok]),
    }
    Ok(())
}

async fn is_gone(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let answer = bench.delete_by_name(&bucket.request).await;
    bench.expect("a bucket is deleted by its name", &answer, &[Code::Ok]);
    if answer.is_ok() && bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await? {
        bench.wrong(format!(
            "bucket {} is still there after its deletion by name was OK",
            bucket.request.name
        ));
    }
    Ok(())
}

async fn of_nothing(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    for time in 1..=bench.settings().repeat {
        let answer = bench.delete_by_name(&bucket.request).await;
        bench.expect(&format!("delete {time} by the same name"), &answer, &[Code::Ok]);
    }
    let answer = bench.delete_by_name(&bench.create_request()).await;
    bench.expect("a bucket is deleted by a name that never had one", &answer, &[Code::Ok]);
    Ok(())
}

async fn leaves_others(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    if !bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await? {
        return Err(Stop::Fail(format!("bucket {} can't be seen", bucket.request.name)));
    }
    let other = bench.other_request(&bucket.request);
    let answer = bench.patiently(|| bench.ask(undo_create(&other))).await;
    bench.expect("a bucket is deleted by its name with other parameters", &answer, &[Code::Ok]);
    if !bench.bucket_is_there(&bucket.request, Some(&bucket.id)).await? {
        bench.wrong(format!(
            "deleting by name with other parameters took bucket {} away, which a create with them would not have taken for \
             its own",
            bucket.request.name
        ));
    }
    Ok(())
}

async fn unknown_parameter(bench: &Bench) -> Tried {
    let mut request = bench.create_request();
    request.parameters.insert(UNKNOWN_PARAMETER.to_owned(), "1".to_owned());
    let answer = bench.ask(undo_create(&request)).await;
    bench.expect(
        "a bucket is deleted by name with a parameter that the driver does not know",
        &answer,
        &[Code::Ok],
    );
    Ok(())
}

async fn empty_name(bench: &Bench) -> Tried {
    let answer = bench.ask(DeleteByName::default()).await;
    bench.expect("a bucket is deleted by an empty name", &answer, &[Code::InvalidArgument]);
    Ok(())
}
