//! The one list of everything that is run: `cargo xtask`. One module per command.

pub mod bench;
pub mod ci;
pub mod cli;
pub mod codegen;
pub mod demo;
pub mod manifests;
mod process;
mod tally;
pub mod test;
pub mod tidy;
mod workspace;
