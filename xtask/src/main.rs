//! `cargo xtask …`: see `cargo xtask --help`.

fn main() -> anyhow::Result<()> {
    cosi_tests::crypto();
    xtask::cli::run()
}
