//! The API server as its clients see it: through `kube::Client`, in the same process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod controllers;
mod definitions;
mod determinism;
mod events;
mod lists;
mod objects;
mod socket;
mod stored;
mod support;
mod watches;
mod wording;
