//! Between the wire and the lifecycle.

mod access;
mod bucket;
mod info;

pub(super) use access::{authentication, granted, mode};
pub(super) use bucket::{bucket, protocol, protocols};
