//! COSI's Kubernetes API, group `objectstorage.k8s.io`, version `v1alpha2`: the five kinds, the names that
//! controller and sidecar agree on, and value types that can't hold an invalid value.
//!
//! The kinds ([`Bucket`], [`BucketClaim`], [`BucketClass`], [`BucketAccess`], [`BucketAccessClass`]) hold plain
//! strings where the API server has already checked them, so that an object can always be looked at and reported,
//! even when a value in it is unusable. What goes to a driver, or comes from one, is a type of [`value`].
//!
//! [`crds`] is the single source of `deploy/crds/`: validation lives beside the fields it is about.
//!
//! This crate chooses no Kubernetes version for `k8s-openapi`: a binary or test that uses it does.

pub mod keys;
mod kinds;
pub mod names;
mod schema;
pub mod value;

pub use kinds::*;
pub use schema::{ManifestError, crds, manifests};
