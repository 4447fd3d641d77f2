//! What keys open, seen by using them. S3 only.

use tonic::Code;

use super::base::{
    ACCOUNT_AGAIN, ACCOUNT_ID, DELETE, GONE_BY_NAME, GRANT, KEY as WORKS, REVOKE, REVOKE_BY_NAME,
};
use super::{Check, Severity};
use crate::bench::{Account, Bench, Bucket, Mode, Stop, Tried, undo_create, unprepared};
use crate::s3::Access;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: WORKS,
        severity: Severity::Must,
        requirements: &["COSI-GRANT-1"],
        description: "The key of an account that may read and write puts, gets and deletes an object.",
        needs: &[GRANT],
        run: |bench| Box::pin(key_works(bench)),
    },
    Check {
        id: "access-modes-are-enforced",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-5"],
        description: "The key of a ReadOnly account gets and can't put; that of a WriteOnly account puts and can't get. A mode \
                      that is INVALID_ARGUMENT is fine, too.",
        needs: &[WORKS],
        run: |bench| Box::pin(modes(bench)),
    },
    Check {
        id: "a-key-opens-no-other-bucket",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-5"],
        description: "The key of an account can neither get from nor put into a bucket that it was not granted for.",
        needs: &[WORKS],
        run: |bench| Box::pin(no_other_bucket(bench)),
    },
    Check {
        id: "repeated-grants-leave-one-living-key",
        severity: Severity::Must,
        requirements: &["COSI-GRANT-1", "COSI-GRANT-2"],
        description: "Of the keys that repeated grants of one account answered, the last one works and no other.",
        needs: &[WORKS, ACCOUNT_AGAIN],
        run: |bench| Box::pin(one_living_key(bench)),
    },
    Check {
        id: "a-revoked-key-is-dead",
        severity: Severity::Must,
        requirements: &["COSI-REVOKE-2"],
        description: "After DriverRevokeBucketAccess was OK, the account's key can neither get nor put.",
        needs: &[WORKS, REVOKE],
        run: |bench| Box::pin(revoked(bench)),
    },
    Check {
        id: "a-key-revoked-by-name-is-dead",
        severity: Severity::Must,
        requirements: &["COSI-REVNAME-1"],
        description: "After DriverRevokeBucketAccessByName was OK, the account's key can neither get nor put.",
        needs: &[WORKS, REVOKE_BY_NAME],
        run: |bench| Box::pin(revoked_by_name(bench)),
    },
    Check {
        id: "a-bucket-with-objects-is-kept",
        severity: Severity::Should,
        requirements: &["COSI-DELETE-3", "COSI-ERR-9"],
        description: "DriverDeleteBucket for a bucket with an object in it is FAILED_PRECONDITION, and the object stays.",
        needs: &[WORKS, DELETE, ACCOUNT_ID],
        run: |bench| Box::pin(full_bucket(bench)),
    },
    Check {
        id: "a-bucket-with-objects-is-kept-by-name-too",
        severity: Severity::Should,
        requirements: &["COSI-DELNAME-6", "COSI-ERR-9"],
        description: "DriverDeleteBucketByName for a bucket with an object in it is FAILED_PRECONDITION, and the object stays.",
        needs: &[WORKS, GONE_BY_NAME, ACCOUNT_ID],
        run: |bench| Box::pin(full_bucket_by_name(bench)),
    },
];

const KEY: &str = "conformance-object";
const OTHER_KEY: &str = "conformance-other-object";

/// A bucket, an account that may read and write, and its access.
async fn room(bench: &Bench) -> Result<(Bucket, Account, Access), Stop> {
    let bucket = bench.bucket().await?;
    let account = bench.account(&bucket, Mode::ReadWrite).await?;
    let access = bench.access(&account, &bucket)?;
    Ok((bucket, account, access))
}

/// The same with an object in it.
async fn full_room(bench: &Bench) -> Result<(Bucket, Account, Access), Stop> {
    let (bucket, account, access) = room(bench).await?;
    if bench.put(&access, &access, KEY, true).await? {
        return Ok((bucket, account, access));
    }
    Err(Stop::Fail("what leads up to this check failed: an object can't be put with a new key".to_owned()))
}

async fn key_works(bench: &Bench) -> Tried {
    let (_, _, access) = room(bench).await?;
    if !bench.put(&access, &access, KEY, true).await? {
        bench.wrong("the key of a ReadWrite account can't put an object");
        return Ok(());
    }
    if !bench.get(&access, KEY, true).await? {
        bench.wrong("the key of a ReadWrite account can't get the object that it put");
    }
    bench.remove(&access, KEY).await
}

async fn modes(bench: &Bench) -> Tried {
    let (bucket, _, owner) = full_room(bench).await?;
    for (mode, name, reads, writes) in
        [(Mode::ReadOnly, "ReadOnly", true, false), (Mode::WriteOnly, "WriteOnly", false, true)]
    {
        let request = bench.grant_request(&[(&bucket, mode)]);
        let granted = match bench.grant(&request).await {
            Err(failure) if failure.is(Code::InvalidArgument) => {
                bench.note(format!("the driver does not offer {name}"));
                continue;
            }
            answer => answer.map_err(unprepared)?,
        };
        let access = bench.access(&Account { granted, request }, &bucket)?;
        // First what must work: a right that is missing may only be late.
        if reads {
            judge(bench, name, "get", reads, bench.get(&access, KEY, reads).await?);
        }
        judge(bench, name, "put", writes, bench.put(&access, &owner, OTHER_KEY, writes).await?);
        if !reads {
            judge(bench, name, "get", reads, bench.get(&access, KEY, reads).await?);
        }
    }
    Ok(())
}

fn judge(bench: &Bench, mode: &str, deed: &str, wanted: bool, allowed: bool) {
    if wanted && !allowed {
        bench.wrong(format!("the key of a {mode} account can't {deed} an object"));
    }
    if allowed && !wanted {
        bench.wrong(format!(
            "the key of a {mode} account can {deed} an object: the access mode is not enforced"
        ));
    }
}

async fn no_other_bucket(bench: &Bench) -> Tried {
    let (_, _, foreign) = full_room(bench).await?;
    let (_, _, own) = full_room(bench).await?;
    let elsewhere = own.at(&foreign);
    if bench.get(&elsewhere, KEY, false).await? {
        bench.wrong("the key of an account gets an object from a bucket that it was not granted for");
    }
    if bench.put(&elsewhere, &foreign, OTHER_KEY, false).await? {
        bench.wrong("the key of an account puts an object into a bucket that it was not granted for");
    }
    Ok(())
}

async fn one_living_key(bench: &Bench) -> Tried {
    let (bucket, account, first) = full_room(bench).await?;
    let mut keys = vec![first];
    for _ in 2..=bench.settings().repeat {
        let granted = bench.grant(&account.request).await.map_err(unprepared)?;
        keys.push(bench.access(&Account { granted, request: account.request.clone() }, &bucket)?);
    }
    let Some(last) = keys.pop() else { return Ok(()) };
    if !bench.get(&last, KEY, true).await? {
        bench.wrong("the key that the last of several grants answered does not work");
    }
    let mut living = 0;
    for key in keys.iter().filter(|key| !key.has_key_of(&last)) {
        living += usize::from(bench.get(key, KEY, false).await?);
    }
    if living > 0 {
        bench.wrong(format!(
            "{living} keys that earlier grants of the same account answered still work: nobody will ever revoke them one by one"
        ));
    }
    // The first key, by which the object was registered, may be dead by now.
    if !keys.iter().all(|key| key.has_key_of(&last)) {
        bench.made.object(&last, KEY);
        bench.remove(&last, KEY).await?;
        for key in &keys {
            bench.made.object_gone(key, KEY);
        }
    }
    Ok(())
}

async fn dead(bench: &Bench, key: &Access, owner: &Access, how: &str) -> Tried {
    if bench.get(key, KEY, false).await? {
        bench.wrong(format!("the account's key still gets objects after {how} was OK"));
    }
    if bench.put(key, owner, OTHER_KEY, false).await? {
        bench.wrong(format!("the account's key still puts objects after {how} was OK"));
    }
    Ok(())
}

async fn revoked(bench: &Bench) -> Tried {
    let (bucket, _, owner) = full_room(bench).await?;
    let account = bench.account(&bucket, Mode::ReadWrite).await?;
    let access = bench.access(&account, &bucket)?;
    bench.get(&access, KEY, true).await?;
    bench.revoke(&account).await.map_err(unprepared)?;
    dead(bench, &access, &owner, "DriverRevokeBucketAccess").await
}

async fn revoked_by_name(bench: &Bench) -> Tried {
    let (bucket, _, owner) = full_room(bench).await?;
    let account = bench.account(&bucket, Mode::ReadWrite).await?;
    let access = bench.access(&account, &bucket)?;
    bench.get(&access, KEY, true).await?;
    bench.revoke_by_name(&account.request).await.map_err(unprepared)?;
    dead(bench, &access, &owner, "DriverRevokeBucketAccessByName").await
}

async fn full_bucket(bench: &Bench) -> Tried {
    let (bucket, _, access) = full_room(bench).await?;
    let answer = bench.delete(&bucket).await;
    if answer.is_ok() {
        bench.made.object_gone(&access, KEY);
    }
    bench.expect("a bucket with an object in it is deleted", &answer, &[Code::FailedPrecondition]);
    if answer.is_err() && !bench.get(&access, KEY, true).await? {
        bench.wrong("the deletion was refused, but the object is gone");
    }
    Ok(())
}

async fn full_bucket_by_name(bench: &Bench) -> Tried {
    let (bucket, _, access) = full_room(bench).await?;
    let answer = bench.ask(undo_create(&bucket.request)).await;
    if answer.is_ok() {
        bench.made.bucket_forgotten(&bucket.request);
        bench.made.object_gone(&access, KEY);
    }
    bench.expect(
        "a bucket with an object in it is deleted by its name",
        &answer,
        &[Code::FailedPrecondition],
    );
    if answer.is_err() && !bench.get(&access, KEY, true).await? {
        bench.wrong("the deletion by name was refused, but the object is gone");
    }
    Ok(())
}
