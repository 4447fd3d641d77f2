//! What a real API server accepts and refuses with our CRDs (protocol.md §4): one row for each rule, and rows for
//! what must stay possible. All but the sequences are dry runs, so no row depends on another.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod bucket;
mod bucket_access;
mod bucket_claim;
mod classes;
mod definitions;
mod subject;
