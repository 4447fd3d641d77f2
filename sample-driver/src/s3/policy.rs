//! What a user may do, as the policy document that the service understands.

use std::collections::BTreeMap;

use cosi_driver_sdk::{AccessMode, AccessedBucket, DriverError};
use serde_json::{Value, json};

/// Characters that AWS gives to a user's own policies; the white space that it doesn't count isn't there.
const MOST: usize = 2048;

const READ: [&str; 3] = ["s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation"];
const WRITE: [&str; 4] =
    ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"];

/// One statement per access mode. Nobody gets a right to make, delete or configure a bucket. The ids must be bucket names,
/// or they could name more than one bucket.
///
/// # Errors
/// `OUT_OF_RANGE`, if the buckets are too many for one user.
pub(super) fn document(buckets: &[AccessedBucket]) -> Result<String, DriverError> {
    let mut by_mode = BTreeMap::<_, Vec<String>>::new();
    for bucket in buckets {
        let bucket_arn = format!("arn:aws:s3:::{}", bucket.bucket_id);
        let objects_arn = format!("{bucket_arn}/*");
        by_mode.entry(actions(bucket.mode)).or_default().extend([bucket_arn, objects_arn]);
    }
    let statements: Vec<Value> = by_mode
        .into_iter()
        .map(|(actions, resources)| json!({"Effect": "Allow", "Action": actions, "Resource": resources}))
        .collect();
    let document = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
    if document.len() > MOST {
        return Err(DriverError::out_of_range(format!(
            "{} buckets don't fit into the policy of one user, which takes {MOST} characters; use several accesses",
            buckets.len()
        )));
    }
    Ok(document)
}

fn actions(mode: AccessMode) -> Vec<&'static str> {
    match mode {
        AccessMode::ReadOnly => READ.to_vec(),
        AccessMode::WriteOnly => WRITE.to_vec(),
        AccessMode::ReadWrite => [READ.as_slice(), WRITE.as_slice()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use cosi_driver_sdk::ErrorKind;

    use super::*;

    fn bucket(id: &str, mode: AccessMode) -> AccessedBucket {
        AccessedBucket { bucket_id: id.parse().unwrap(), mode }
    }

    /// C34: pairs of action and resource that a document allows.
    fn allowed(buckets: &[AccessedBucket]) -> Vec<(String, String)> {
        let document: Value = serde_json::from_str(&document(buckets).unwrap()).unwrap();
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let mut pairs = Vec::new();
        for statement in document["Statement"].as_array().unwrap() {
            assert_eq!(statement["Effect"], "Allow");
            for action in texts(&statement["Action"]) {
                pairs.extend(
                    texts(&statement["Resource"]).into_iter().map(|resource| (action.clone(), resource)),
                );
            }
        }
        pairs
    }

    #[test]
    fn each_bucket_gets_the_rights_of_its_own_mode_and_no_others() {
        let pairs = allowed(&[
            bucket("bc-1", AccessMode::ReadOnly),
            bucket("bc-2", AccessMode::WriteOnly),
            bucket("bc-3", AccessMode::ReadWrite),
        ]);
        let may =
            |action: &str, id: &str| pairs.contains(&(action.to_owned(), format!("arn:aws:s3:::{id}/*")));
        for (id, reads, writes) in [("bc-1", true, false), ("bc-2", false, true), ("bc-3", true, true)] {
            assert_eq!((may("s3:GetObject", id), may("s3:PutObject", id)), (reads, writes), "{id}");
            assert_eq!((may("s3:ListBucket", id), may("s3:DeleteObject", id)), (reads, writes), "{id}");
        }
        assert!(pairs.iter().all(|(action, _)| !action.contains('*') && !action.ends_with("DeleteBucket")));
        assert!(pairs.iter().all(|(_, resource)| resource.starts_with("arn:aws:s3:::bc-")));
    }

    /// C35.
    #[test]
    fn more_buckets_than_a_policy_holds_are_out_of_range_and_the_longest_name_fits() {
        let longest = "b".repeat(63);
        assert!(document(&[bucket(&longest, AccessMode::ReadWrite)]).is_ok());
        let many: Vec<_> =
            (0..30).map(|n| bucket(&format!("{n:03}{}", "b".repeat(60)), AccessMode::ReadOnly)).collect();
        assert_eq!(document(&many).unwrap_err().kind(), ErrorKind::OutOfRange);
    }
}
