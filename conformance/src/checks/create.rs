//! DriverCreateBucket: what it makes, and for whom.

use tonic::Code;

use super::base::{BUCKET, BUCKET_AGAIN, BUCKET_ID, BUCKET_INFO, NAME_TAKEN};
use super::{Check, Severity};
use crate::bench::{Bench, Stop, Tried, protocols_of, unprepared, wire_protocol, wrong_id};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: BUCKET,
        severity: Severity::Must,
        requirements: &["COSI-CREATE-1", "COSI-ERR-1"],
        description: "DriverCreateBucket with the given protocol and parameters, and a name as long as a sidecar's, is OK.",
        needs: &[],
        run: |bench| Box::pin(can_be_made(bench)),
    },
    Check {
        id: BUCKET_ID,
        severity: Severity::Must,
        requirements: &["COSI-GEN-10"],
        description: "The bucket_id of a new bucket has 1 to 2048 characters of those that are allowed.",
        needs: &[BUCKET],
        run: |bench| Box::pin(id_is_valid(bench)),
    },
    Check {
        id: BUCKET_INFO,
        severity: Severity::Must,
        requirements: &["COSI-CREATE-7"],
        description: "The answer has info for the protocol asked for, and for none that the driver does not support.",
        needs: &[BUCKET],
        run: |bench| Box::pin(has_info(bench)),
    },
    Check {
        id: "a-bucket-can-be-made-without-naming-a-protocol",
        severity: Severity::Must,
        requirements: &["COSI-CREATE-7"],
        description: "DriverCreateBucket without protocols is OK, and the driver chooses at least one.",
        needs: &[BUCKET_INFO],
        run: |bench| Box::pin(without_protocol(bench)),
    },
    Check {
        id: BUCKET_AGAIN,
        severity: Severity::Must,
        requirements: &["COSI-CREATE-1", "COSI-CREATE-2", "COSI-GEN-3"],
        description: "The same DriverCreateBucket again and again is OK each time, with the same bucket_id.",
        needs: &[BUCKET_ID],
        run: |bench| Box::pin(repeated(bench)),
    },
    Check {
        id: NAME_TAKEN,
        severity: Severity::Must,
        requirements: &["COSI-CREATE-3", "COSI-ERR-3"],
        description: "DriverCreateBucket for a name that was used with other parameters (or protocols) is ALREADY_EXISTS, and the first bucket \
                      stays as it is.",
        needs: &[BUCKET_AGAIN],
        run: |bench| Box::pin(name_taken(bench)),
    },
    Check {
        id: "an-unsupported-protocol-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-CREATE-5", "COSI-ERR-2"],
        description: "DriverCreateBucket with a protocol that DriverGetInfo does not name is INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(unsupported_protocol(bench)),
    },
    Check {
        id: "an-unknown-parameter-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-CREATE-5", "COSI-ERR-2"],
        description: "DriverCreateBucket with a parameter that no driver knows is INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(unknown_parameter(bench)),
    },
];

async fn can_be_made(bench: &Bench) -> Tried {
    let answer = bench.create(&bench.create_request()).await;
    bench.expect("a bucket is asked for", &answer, &[Code::Ok]);
    Ok(())
}

async fn id_is_valid(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    if let Some(why) = wrong_id(&bucket.id) {
        bench.wrong(format!("the bucket_id of bucket {}: {why}", bucket.request.name));
    }
    Ok(())
}

async fn has_info(bench: &Bench) -> Tried {
    let request = bench.create_request();
    let answer = bench.create(&request).await.map_err(unprepared)?;
    let there = answer.protocols.as_ref().map(protocols_of).unwrap_or_default();
    let wanted = bench.shared.protocol();
    if !there.contains(&wanted) {
        bench.wrong(format!("the answer has no info for {}, which was asked for", wanted.as_str_name()));
    }
    let own = |protocol| {
        let told = bench.shared.info.iter().flat_map(|info| &info.supported_protocols);
        let told: Vec<_> = told.collect();
        told.is_empty() || told.contains(&&wire_protocol(protocol))
    };
    for foreign in there.into_iter().filter(|protocol| !own(*protocol)) {
        bench.wrong(format!(
            "the answer has info for {}, which the driver does not support",
            foreign.as_str_name()
        ));
    }
    Ok(())
}

async fn without_protocol(bench: &Bench) -> Tried {
    let mut request = bench.create_request();
    request.protocols.clear();
    let answer = bench.create(&request).await;
    bench.expect("a bucket is asked for, of whatever protocol", &answer, &[Code::Ok]);
    if let Ok(answer) = answer
        && answer.protocols.as_ref().map(protocols_of).unwrap_or_default().is_empty()
    {
        bench.wrong("the answer has info for no protocol at all");
    }
    Ok(())
}

async fn repeated(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    for time in 2..=bench.settings().repeat {
        let answer = bench.create(&bucket.request).await;
        bench.expect(&format!("create {time} of the same"), &answer, &[Code::Ok]);
        match answer {
            Ok(again) if again.bucket_id != bucket.id => bench.wrong(format!(
                "create {time} of bucket {} answered id {:?}, the first one {:?}: what was made for one of them is an orphan",
                bucket.request.name, again.bucket_id, bucket.id
            )),
            _ => {}
        }
    }
    Ok(())
}

async fn name_taken(bench: &Bench) -> Tried {
    let bucket = bench.bucket().await?;
    let other = bench.other_request(&bucket.request);
    let answer = bench.create(&other).await;
    if bench.settings().other_parameter.is_empty() {
        let told_apart = answer.as_ref().is_err_and(|failure| failure.is(Code::AlreadyExists));
        if !told_apart {
            return Err(Stop::Skip(
                "the driver must know other parameters for this: give some with --other-parameter".to_owned(),
            ));
        }
        bench.note("only a request with other protocols was tried; --other-parameter tries parameters");
    }
    bench.expect("the name is asked for by another request", &answer, &[Code::AlreadyExists]);
    let again = bench.create(&bucket.request).await;
    bench.expect("then the first bucket is asked for again", &again, &[Code::Ok]);
    if again.is_ok_and(|again| again.bucket_id != bucket.id) {
        bench.wrong("after that, the first request answers another id");
    }
    Ok(())
}

async fn unsupported_protocol(bench: &Bench) -> Tried {
    let foreign = bench.shared.foreign_protocol();
    let foreign = foreign.ok_or_else(|| Stop::Skip("the driver supports every protocol".to_owned()))?;
    let mut request = bench.create_request();
    request.protocols = vec![wire_protocol(foreign)];
    let answer = bench.create(&request).await;
    bench.expect(
        &format!("a bucket is asked for with {}", foreign.as_str_name()),
        &answer,
        &[Code::InvalidArgument],
    );
    Ok(())
}

async fn unknown_parameter(bench: &Bench) -> Tried {
    let mut request = bench.create_request();
    request.parameters.insert(crate::bench::UNKNOWN_PARAMETER.to_owned(), "1".to_owned());
    let answer = bench.create(&request).await;
    bench.expect(
        "a bucket is asked for with a parameter that no driver knows",
        &answer,
        &[Code::InvalidArgument],
    );
    Ok(())
}
