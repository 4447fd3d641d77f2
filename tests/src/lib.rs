//! Tests across crates and processes, and what they share.
