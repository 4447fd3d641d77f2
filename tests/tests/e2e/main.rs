//! End to end: the real sidecar process between a real API server and a scripted driver, with faults on every path.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod access;
mod codes;
mod deletion;
mod drivers;
mod faults;
mod floor;
mod force;
mod foreign;
mod leader;
mod nonsense;
mod process;
mod retain;
mod retry;
mod rights;
mod sample;
mod storm;
mod watches;
mod window;
mod world;
