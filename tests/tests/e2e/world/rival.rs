//! A second sidecar of the same driver, with a way to the API server of its own.

use cosi_sim::proxy::ApiProxy;
use cosi_tests::devcluster;
use cosi_tests::sidecar::Sidecar;

use super::World;
use super::setup::upstream;

/// The other replica. It is not started yet.
pub(crate) struct Rival {
    pub(crate) sidecar: Sidecar,
    pub(crate) proxy: ApiProxy,
    _kubeconfig: tempfile::NamedTempFile,
}

impl World {
    /// Another replica of the sidecar.
    pub(crate) async fn rival(&self) -> Rival {
        let proxy = ApiProxy::start(upstream(&self.cluster)).await.unwrap();
        let kubeconfig = devcluster::plain_kubeconfig(&proxy.url(), None).unwrap();
        let mut sidecar = self.sidecar.twin().unwrap();
        sidecar.replace_arg("--kubeconfig", kubeconfig.path());
        Rival { sidecar, proxy, _kubeconfig: kubeconfig }
    }

    /// Another replica, which stands by while the first one leads.
    pub(crate) async fn standby(&self) -> Rival {
        self.sidecar.wait_log("leading: the Lease is taken", 1).await.unwrap();
        let mut rival = self.rival().await;
        rival.sidecar.start().unwrap();
        rival.sidecar.wait_log("standing by: another process leads", 1).await.unwrap();
        rival
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the other sidecar's log\n{}", self.sidecar.log());
        }
    }
}
