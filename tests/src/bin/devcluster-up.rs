//! Brings up a Kubernetes API server with our CRDs, to try things by hand: prints its kubeconfig, and ends it when
//! stdin ends or Ctrl-C comes.

use std::io::{self, Write as _};

use cosi_tests::devcluster::{DevCluster, ServerOptions};

fn main() -> anyhow::Result<()> {
    let cluster = DevCluster::start(&ServerOptions::default())?;
    writeln!(io::stdout(), "export KUBECONFIG={}", cluster.kubeconfig_path().display())?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
