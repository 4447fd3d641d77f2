//! `cargo xtask codegen [--check]`.

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("codegen") => xtask::codegen::codegen(std::env::args().any(|argument| argument == "--check")),
        _ => anyhow::bail!("usage: cargo xtask codegen [--check]"),
    }
}
