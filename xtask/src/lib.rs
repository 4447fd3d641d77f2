//! The one list of everything that is run: `cargo xtask`. One module per command.

pub mod bench;
pub mod ci;
pub mod cli;
pub mod codegen;
pub mod demo;
mod machine;
pub mod manifests;
pub mod newcomer;
mod process;
pub mod sandbox;
pub mod sim;
pub mod soak;
mod tally;
pub mod test;
pub mod tidy;
mod workspace;
