//! The real garbage collector and namespace controller: a child process that cannot outlive this one.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Namespace},
};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use serde_json::{from_value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::server::{ENDS_WITHIN, tail, wait};

/// How long a start may take; it takes about three seconds on two free cores.
const READY_WITHIN: Duration = Duration::from_secs(90);
/// What the controllers log, in their folder.
const LOG: &str = "controllers.log";

/// Why there are no controllers.
#[derive(Debug, thiserror::Error)]
pub enum ControllersError {
    /// No folder for their log.
    #[error("making the controllers' folder")]
    Folder(#[source] io::Error),
    /// The program does not run.
    #[error("running {path}")]
    Spawn {
        /// The program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The API server does not answer as it should.
    #[error("asking the API server about controllers")]
    Api(#[source] Box<kube::Error>),
    /// They did not do what they are for.
    #[error("the controllers were not ready ({how}); the end of their log:\n{log}")]
    NotReady {
        /// What is missing.
        how: String,
        /// The last lines that they logged.
        log: String,
    },
}

/// The running controllers. Dropping them ends the process; so does the end of ours, however it comes, because that
/// closes the pipe that is their stdin.
#[derive(Debug)]
pub(super) struct Controllers {
    process: Child,
    dir: TempDir,
}

/// Whether the cluster has a controller manager already: one that elects a leader, as ours does not.
pub(super) async fn are_there(client: Client) -> Result<bool, ControllersError> {
    let leases: Api<Lease> = Api::namespaced(client, "kube-system");
    Ok(leases.get_opt("kube-controller-manager").await.map_err(api)?.is_some())
}

fn api(error: kube::Error) -> ControllersError {
    ControllersError::Api(Box::new(error))
}

impl Controllers {
    pub(super) fn start(program: &Path, kubeconfig: &Path) -> Result<Self, ControllersError> {
        let dir = tempfile::Builder::new()
            .prefix("cosi-controllers-")
            .tempdir()
            .map_err(ControllersError::Folder)?;
        let log = File::create(dir.path().join(LOG)).map_err(ControllersError::Folder)?;
        let process = Command::new(program)
            .args(["controller-manager", "--kubeconfig"])
            .arg(kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|source| ControllersError::Spawn { path: program.to_owned(), source })?;
        Ok(Self { process, dir })
    }

    /// Waits until both controllers have done once what they are for. There is nothing else to ask them by: they listen
    /// to nobody.
    pub(super) async fn wait_ready(&mut self, client: Client) -> Result<(), ControllersError> {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let wanted = object(json!({ "metadata": { "generateName": "controllers-" } }));
        let namespace = namespaces.create(&PostParams::default(), &wanted).await.map_err(api)?;
        let name = namespace.metadata.name.unwrap_or_default();
        let orphans: Api<ConfigMap> = Api::namespaced(client, &name);
        let orphan = object(json!({
            "metadata": { "name": "orphan", "ownerReferences": [{
                "apiVersion": "v1", "kind": "ConfigMap", "name": "never-there", "uid": "no-such-uid",
            }] },
        }));
        orphans.create(&PostParams::default(), &orphan).await.map_err(api)?;
        let deadline = Instant::now() + READY_WITHIN;
        while orphans.get_opt("orphan").await.map_err(api)?.is_some() {
            self.still_waiting(deadline, "nothing collects owner references").await?;
        }
        namespaces.delete(&name, &DeleteParams::default()).await.map_err(api)?;
        while namespaces.get_opt(&name).await.map_err(api)?.is_some() {
            self.still_waiting(deadline, "no deleted namespace goes away").await?;
        }
        Ok(())
    }

    async fn still_waiting(&mut self, deadline: Instant, what: &str) -> Result<(), ControllersError> {
        let ended = self.process.try_wait().ok().flatten();
        if ended.is_none() && Instant::now() < deadline {
            sleep(Duration::from_millis(50)).await;
            return Ok(());
        }
        let how = ended.map_or_else(|| what.to_owned(), |status| format!("they have ended: {status}"));
        Err(ControllersError::NotReady { how, log: tail(&self.dir.path().join(LOG)) })
    }
}

/// The types have too many fields to write one down.
fn object<T: serde::de::DeserializeOwned + Default>(fields: serde_json::Value) -> T {
    from_value(fields).unwrap_or_default()
}

impl Drop for Controllers {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        if wait(&mut self.process, ENDS_WITHIN).is_none() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}
