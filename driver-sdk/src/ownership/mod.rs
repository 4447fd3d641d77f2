//! Whose a bucket or account at the backend is.

pub(crate) mod fingerprint;
pub(crate) mod mark;
