//! How the API server checks the kinds: the forms of fields, the rules over them, and the finished CRDs.

mod crd;
pub(crate) mod fields;
mod manifest;
pub(crate) mod rules;

pub use crd::crds;
pub use manifest::{ManifestError, manifests};
