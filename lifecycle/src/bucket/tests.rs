//! Tests of the Bucket machine.
