//! The one list of everything that is run: `cargo xtask`. One module per command.

pub mod ci;
pub mod codegen;
pub mod manifests;
mod tally;
pub mod test;
pub mod tidy;
mod workspace;
