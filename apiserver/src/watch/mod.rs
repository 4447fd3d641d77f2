//! Streams of changes.
