//! The decisions of the COSI sidecar: pure state machines that never orphan a bucket.
