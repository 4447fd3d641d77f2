//! The COSI sidecar: watches Buckets and calls the driver beside it.
