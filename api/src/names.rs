//! Names that every party of the protocol must spell alike: API group, finalizer, annotations.
//!
//! An annotation counts by its presence; its value is empty.

use std::collections::BTreeMap;

/// The API group of all five kinds.
pub const GROUP: &str = "objectstorage.k8s.io";

/// The only served version.
pub const VERSION: &str = "v1alpha2";

/// Keeps an object (`Bucket`, `BucketAccess`, `BucketClaim`, or a Secret of an access) until what it stands for at the
/// backend is gone. On a `Bucket` it also is the durable intent: without it nothing was ever sent to a driver (R1).
pub const FINALIZER: &str = "objectstorage.k8s.io/protection";

/// On a `Bucket`: its claim is being deleted (R10). The group is misspelt in the constant that controllers in the
/// field were built with, so this is the spelling to expect; see [`claim_is_being_deleted`].
pub const BUCKETCLAIM_BEING_DELETED: &str = "objectstorage.k8.io/bucketclaim-being-deleted";

/// The same as [`BUCKETCLAIM_BEING_DELETED`] with the group spelt right, for controllers that do so.
pub const BUCKETCLAIM_BEING_DELETED_FIXED: &str = "objectstorage.k8s.io/bucketclaim-being-deleted";

/// On a `BucketClaim`: at least one `BucketAccess` refers to it.
pub const HAS_BUCKETACCESS_REFERENCES: &str = "objectstorage.k8s.io/has-bucketaccess-references";

/// On a deleting `BucketAccess`: account and Secrets are gone, the controller may finish.
pub const SIDECAR_CLEANUP_FINISHED: &str = "objectstorage.k8s.io/sidecar-cleanup-finished";

/// On a `BucketAccess`: the controller has taken it back, no sidecar touches it.
pub const CONTROLLER_MANAGEMENT_OVERRIDE: &str = "objectstorage.k8s.io/controller-management-override";

/// On a deleting `Bucket` or `BucketAccess`, set by a person: finish without calling the driver (R14). This project's
/// own addition.
pub const SIDECAR_LET_GO: &str = "objectstorage.k8s.io/sidecar-let-go";

/// Whether these annotations of a `Bucket` say, in either spelling, that its claim is being deleted.
#[must_use]
pub fn claim_is_being_deleted(annotations: &BTreeMap<String, String>) -> bool {
    annotations.contains_key(BUCKETCLAIM_BEING_DELETED)
        || annotations.contains_key(BUCKETCLAIM_BEING_DELETED_FIXED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_the_claim_annotation_count_whatever_their_value() {
        for spelling in [
            "objectstorage.k8.io/bucketclaim-being-deleted",
            "objectstorage.k8s.io/bucketclaim-being-deleted",
        ] {
            for value in ["", "false"] {
                let annotations = BTreeMap::from([(spelling.to_owned(), value.to_owned())]);
                assert!(claim_is_being_deleted(&annotations), "{spelling}={value}");
            }
        }
    }

    #[test]
    fn no_other_annotation_says_that_the_claim_is_being_deleted() {
        let others = [
            HAS_BUCKETACCESS_REFERENCES,
            SIDECAR_CLEANUP_FINISHED,
            CONTROLLER_MANAGEMENT_OVERRIDE,
            SIDECAR_LET_GO,
            FINALIZER,
        ];
        let annotations = others.map(|name| (name.to_owned(), String::new())).into();
        assert!(!claim_is_being_deleted(&annotations));
    }
}
