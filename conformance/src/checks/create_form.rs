//! DriverCreateBucket: requests that are odd, wrong, or as large as they may be.

use std::collections::BTreeMap;

use tonic::Code;

use super::base::{BUCKET, BUCKET_ID};
use super::{Check, Severity};
use crate::bench::{Bench, Names, Tried, wire_protocol};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "a-bad-bucket-name-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-9", "COSI-GEN-12"],
        description: "DriverCreateBucket with a name that is empty, too long or no DNS-1123 subdomain is INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(bad_name(bench)),
    },
    Check {
        id: "an-unknown-protocol-of-a-bucket-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12"],
        description: "DriverCreateBucket with protocol UNKNOWN, or one with a number from the future, is INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(unknown_protocol(bench)),
    },
    Check {
        id: "a-protocol-asked-for-twice-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12"],
        description: "DriverCreateBucket that names a protocol twice is INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(protocol_twice(bench)),
    },
    Check {
        id: "the-longest-bucket-name-is-served-or-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-9", "COSI-CREATE-6"],
        description: "DriverCreateBucket with a name of 253 characters is OK or INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(longest_name(bench)),
    },
    Check {
        id: "long-bucket-names-stay-apart",
        severity: Severity::Must,
        requirements: &["COSI-CREATE-6"],
        description: "Two names of 63, and of 253, characters that differ in the last one make two buckets, if any.",
        needs: &[BUCKET_ID, "the-longest-bucket-name-is-served-or-refused"],
        run: |bench| Box::pin(names_stay_apart(bench)),
    },
    Check {
        id: "the-largest-parameters-are-served-or-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-8"],
        description: "DriverCreateBucket with 4096 bytes of parameters is OK or INVALID_ARGUMENT.",
        needs: &[BUCKET],
        run: |bench| Box::pin(largest_parameters(bench)),
    },
];

async fn bad_name(bench: &Bench) -> Tried {
    let good = bench.name();
    let bad = [
        ("is empty", String::new()),
        ("has upper-case letters", good.to_uppercase()),
        ("has a slash in it", format!("{good}/x")),
        ("ends with a dash", format!("{good}-")),
        ("goes up in the file system", format!("../{good}")),
        ("has 254 characters", format!("{}a", Names::longest(&good, 'a'))),
    ];
    for (what, name) in bad {
        let mut request = bench.create_request();
        request.name = name;
        let answer = bench.create(&request).await;
        bench.expect(
            &format!("a bucket is asked for by a name that {what}"),
            &answer,
            &[Code::InvalidArgument],
        );
    }
    Ok(())
}

async fn unknown_protocol(bench: &Bench) -> Tried {
    for number in [0, 99] {
        let mut request = bench.create_request();
        request.protocols.push(wire_protocol(number));
        let answer = bench.create(&request).await;
        bench.expect(
            &format!("a bucket is asked for with protocol {number}"),
            &answer,
            &[Code::InvalidArgument],
        );
    }
    Ok(())
}

async fn protocol_twice(bench: &Bench) -> Tried {
    let mut request = bench.create_request();
    request.protocols = [request.protocols.clone(), request.protocols].concat();
    let answer = bench.create(&request).await;
    bench.expect("a bucket is asked for with one protocol twice", &answer, &[Code::InvalidArgument]);
    Ok(())
}

async fn longest_name(bench: &Bench) -> Tried {
    let mut request = bench.create_request();
    request.name = Names::longest(&request.name, 'a');
    let answer = bench.create(&request).await;
    bench.expect(
        "a bucket is asked for by a name of 253 characters",
        &answer,
        &[Code::Ok, Code::InvalidArgument],
    );
    Ok(())
}

async fn names_stay_apart(bench: &Bench) -> Tried {
    let mut refused = 0;
    for length in [63, 253] {
        let name = bench.name();
        let mut ids = Vec::new();
        for tail in ['a', 'b'] {
            let mut request = bench.create_request();
            request.name = long(&name, length, tail);
            ids.extend(bench.create(&request).await.map(|made| made.bucket_id).ok());
        }
        match ids.as_slice() {
            [one, other] if one == other => bench.wrong(format!(
                "two names of {length} characters that differ in the last one got the same bucket: deleting one Bucket takes \
                 both"
            )),
            [_, _] => {}
            _ => refused += 1,
        }
    }
    if refused == 2 {
        bench.note("the driver holds no names that long");
    }
    Ok(())
}

fn long(name: &str, length: usize, tail: char) -> String {
    let longest = Names::longest(name, tail);
    let start: String = longest.chars().take(length - 1).collect();
    format!("{start}{tail}")
}

async fn largest_parameters(bench: &Bench) -> Tried {
    let mut request = bench.create_request();
    // No driver knows this key; one that refuses it, and one that ignores it, must both get over the size.
    let key = crate::bench::UNKNOWN_PARAMETER;
    let given: usize = request.parameters.iter().map(|(key, value)| key.len() + value.len()).sum();
    let value = "v".repeat(4096_usize.saturating_sub(given + key.len()));
    request.parameters.append(&mut BTreeMap::from([(key.to_owned(), value)]));
    let answer = bench.create(&request).await;
    bench.expect(
        "a bucket is asked for with 4096 bytes of parameters",
        &answer,
        &[Code::Ok, Code::InvalidArgument],
    );
    Ok(())
}
