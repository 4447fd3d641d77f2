//! The one list of everything that is run: cargo xtask.

pub mod codegen;
