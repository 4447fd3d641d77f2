//! DriverGrantBucketAccess: requests that are odd, wrong, or as large as they may be.

use cosi_proto::v1alpha2 as wire;
use tonic::Code;

use super::base::{ACCOUNT_ID, GRANT};
use super::{Check, Severity};
use crate::bench::{Bench, Bucket, Mode, Names, Stop, Tried, UNKNOWN_PARAMETER, accessed, wire_protocol};
use crate::driver::rpc::Grant;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "an-unsupported-protocol-of-a-grant-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-10", "COSI-ERR-2"],
        description: "DriverGrantBucketAccess with a protocol that DriverGetInfo does not name is INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(unsupported_protocol(bench)),
    },
    Check {
        id: "an-unknown-parameter-of-a-grant-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-10", "COSI-ERR-2"],
        description: "DriverGrantBucketAccess with a parameter that no driver knows is INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(unknown_parameter(bench)),
    },
    Check {
        id: "an-unknown-protocol-of-a-grant-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12"],
        description: "DriverGrantBucketAccess with no protocol, UNKNOWN, or one with a number from the future, is \
                      INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(unknown_protocol(bench)),
    },
    Check {
        id: "an-unknown-authentication-type-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12", "COSI-GRANT-10"],
        description: "DriverGrantBucketAccess with no authentication type, UNKNOWN, or one with a number from the future, is \
                      INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(unknown_authentication(bench)),
    },
    Check {
        id: "an-unknown-access-mode-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12", "COSI-GRANT-5"],
        description: "DriverGrantBucketAccess with no access mode, UNKNOWN, or one with a number from the future, is \
                      INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(unknown_mode(bench)),
    },
    Check {
        id: "a-grant-for-no-bucket-or-one-twice-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-12", "COSI-GEN-10"],
        description: "DriverGrantBucketAccess without buckets, with an empty bucket_id, or with one bucket twice, is \
                      INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(bad_buckets(bench)),
    },
    Check {
        id: "a-bad-account-name-is-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-9", "COSI-GEN-12"],
        description: "DriverGrantBucketAccess with an account_name that is empty, too long or no DNS-1123 subdomain is \
                      INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(bad_name(bench)),
    },
    Check {
        id: "the-longest-account-name-is-served-or-refused",
        severity: Severity::Must,
        requirements: &["COSI-GEN-9", "COSI-GRANT-11"],
        description: "DriverGrantBucketAccess with an account_name of 253 characters is OK or INVALID_ARGUMENT.",
        needs: &[GRANT],
        run: |bench| Box::pin(longest_name(bench)),
    },
    Check {
        id: "long-account-names-stay-apart",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-11"],
        description: "Two account_names of 64, and of 253, characters that differ in the last one make two accounts, if any.",
        needs: &[ACCOUNT_ID, "the-longest-account-name-is-served-or-refused"],
        run: |bench| Box::pin(names_stay_apart(bench)),
    },
];

/// A request that would be fine, and its bucket.
async fn fine(bench: &Bench) -> Result<(Grant, Bucket), Stop> {
    let bucket = bench.bucket().await?;
    Ok((bench.grant_request(&[(&bucket, Mode::ReadWrite)]), bucket))
}

/// Each of the requests, for which `spoil` makes a change of a good one, must be refused.
async fn refused<T>(
    bench: &Bench,
    changes: impl IntoIterator<Item = (String, T)>,
    spoil: impl Fn(&mut Grant, T),
) -> Tried {
    let (good, _bucket) = fine(bench).await?;
    for (what, change) in changes {
        let mut request = Grant { account_name: bench.name(), ..good.clone() };
        spoil(&mut request, change);
        let answer = bench.grant(&request).await;
        bench.expect(&format!("access is asked for with {what}"), &answer, &[Code::InvalidArgument]);
    }
    Ok(())
}

async fn unsupported_protocol(bench: &Bench) -> Tried {
    let foreign = bench.shared.foreign_protocol();
    let foreign = foreign.ok_or_else(|| Stop::Skip("the driver supports every protocol".to_owned()))?;
    let change = [(foreign.as_str_name().to_owned(), foreign)];
    refused(bench, change, |request, foreign| request.protocol = Some(wire_protocol(foreign))).await
}

async fn unknown_parameter(bench: &Bench) -> Tried {
    refused(bench, [("a parameter that no driver knows".to_owned(), UNKNOWN_PARAMETER)], |request, key| {
        request.parameters.insert(key.to_owned(), "1".to_owned());
    })
    .await
}

/// Absent, UNKNOWN, and from the future.
fn unknown(what: &str) -> [(String, Option<i32>); 3] {
    [(format!("no {what}"), None), (format!("{what} 0"), Some(0)), (format!("{what} 99"), Some(99))]
}

async fn unknown_protocol(bench: &Bench) -> Tried {
    refused(bench, unknown("protocol"), |request, number| request.protocol = number.map(wire_protocol)).await
}

async fn unknown_authentication(bench: &Bench) -> Tried {
    refused(bench, unknown("authentication type"), |request, number| {
        request.authentication_type = number.map(|r#type| wire::AuthenticationType { r#type });
    })
    .await
}

async fn unknown_mode(bench: &Bench) -> Tried {
    refused(bench, unknown("access mode"), |request, number| {
        for bucket in &mut request.buckets {
            bucket.access_mode = number.map(|mode| wire::AccessMode { mode });
        }
    })
    .await
}

async fn bad_buckets(bench: &Bench) -> Tried {
    let (_, bucket) = fine(bench).await?;
    let one = accessed(&bucket.id, Mode::ReadWrite);
    let changes = [
        ("no bucket".to_owned(), vec![]),
        ("an empty bucket_id".to_owned(), vec![accessed("", Mode::ReadWrite)]),
        ("one bucket twice".to_owned(), vec![one.clone(), one]),
    ];
    refused(bench, changes, |request, buckets| request.buckets = buckets).await
}

async fn bad_name(bench: &Bench) -> Tried {
    let good = bench.name();
    let names = [
        ("an account_name that is empty", String::new()),
        ("an account_name that has upper-case letters", good.to_uppercase()),
        ("an account_name that has a slash in it", format!("{good}/x")),
        ("an account_name that goes up in the file system", format!("../{good}")),
        ("an account_name of 254 characters", format!("{}a", Names::longest(&good, 'a'))),
    ];
    let names = names.map(|(what, name)| (what.to_owned(), name));
    refused(bench, names, |request, name| request.account_name = name).await
}

async fn longest_name(bench: &Bench) -> Tried {
    let (mut request, _bucket) = fine(bench).await?;
    request.account_name = Names::longest(&request.account_name, 'a');
    let answer = bench.grant(&request).await;
    bench.expect(
        "access is asked for by a name of 253 characters",
        &answer,
        &[Code::Ok, Code::InvalidArgument],
    );
    Ok(())
}

async fn names_stay_apart(bench: &Bench) -> Tried {
    let (good, _bucket) = fine(bench).await?;
    let mut refused = 0;
    for length in [64, 253] {
        let start: String = Names::longest(&bench.name(), 'a').chars().take(length - 1).collect();
        // Where a label of the longest name ends, there may be a dot.
        let start = start.strip_suffix('.').map_or(start.clone(), |start| format!("{start}x"));
        let mut ids = Vec::new();
        for tail in ['a', 'b'] {
            let request = Grant { account_name: format!("{start}{tail}"), ..good.clone() };
            ids.extend(bench.grant(&request).await.map(|made| made.account_id).ok());
        }
        match ids.as_slice() {
            [one, other] if one == other => bench.wrong(format!(
                "two account_names of {length} characters that differ in the last one got the same account"
            )),
            [_, _] => {}
            _ => refused += 1,
        }
    }
    if refused == 2 {
        bench.note("the driver holds no account_names that long");
    }
    Ok(())
}
