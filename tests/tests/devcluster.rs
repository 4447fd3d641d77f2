//! The API server that the other tests rely on: it is real, it starts, and it never stays behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use cosi_tests::{
    devcluster::{self, DevCluster, ServerOptions},
    skip,
};
use k8s_openapi::{
    api::{
        core::v1::{ConfigMap, Namespace},
        rbac::v1::RoleBinding,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{from_value, json};

/// How long anything may take that should take moments.
const SOON: Duration = Duration::from_secs(15);
/// Why a test that starts a server of its own is skipped.
const NO_GO: &str = "there is no Go on PATH to build an API server with";

#[tokio::test]
async fn a_namespace_is_created_and_read_back() {
    let Some(cluster) = devcluster::or_skip("a_namespace_is_created_and_read_back") else { return };
    let client = cluster.client().unwrap();
    let name = fresh_namespace(&client).await;
    let read = Api::<Namespace>::all(client).get(&name).await.unwrap();
    assert_eq!(read.metadata.name.as_ref(), Some(&name));
}

#[tokio::test]
async fn every_crd_of_ours_is_served() {
    let Some(cluster) = devcluster::or_skip("every_crd_of_ours_is_served") else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds");
    let files = folder.read_dir().map(Iterator::count).unwrap_or_default();
    let ours = crd_versions(&cluster.client().unwrap()).await;
    assert!(ours.len() >= files, "{ours:?} are served, {files} files are in deploy/crds");
}

#[tokio::test]
async fn crds_are_installed_by_several_at_once_and_again_without_a_change() {
    let name = "crds_are_installed_by_several_at_once_and_again_without_a_change";
    let Some(cluster) = devcluster::or_skip(name) else { return };
    let client = cluster.client().unwrap();
    let before = crd_versions(&client).await;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| DevCluster::attach(cluster.kubeconfig_path().to_owned()).unwrap());
        }
    });
    assert_eq!(crd_versions(&client).await, before);
}

/// Name and resourceVersion of each of our CRDs.
async fn crd_versions(client: &Client) -> Vec<(Option<String>, Option<String>)> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let ours = crds.list(&ListParams::default()).await.unwrap().items.into_iter();
    ours.filter(|crd| crd.spec.group == "objectstorage.k8s.io")
        .map(|crd| (crd.metadata.name, crd.metadata.resource_version))
        .collect()
}

#[tokio::test]
async fn the_limited_user_may_do_nothing_until_a_role_is_bound() {
    let name = "the_limited_user_may_do_nothing_until_a_role_is_bound";
    let Some(cluster) = devcluster::or_skip(name) else { return };
    let Some(kubeconfig) = cluster.limited_kubeconfig_path() else {
        return skip::report(name, "the cluster of TEST_KUBECONFIG has no limited user");
    };
    // In a namespace of its own, so that the limited users of other tests stay as limited as they were.
    let admin = cluster.client().unwrap();
    let namespace = fresh_namespace(&admin).await;
    let limited: Api<ConfigMap> = Api::namespaced(client_of(&kubeconfig).await, &namespace);
    let error = limited.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 403));

    let bindings: Api<RoleBinding> = Api::namespaced(admin, &namespace);
    let binding = from_value(json!({
        "metadata": { "name": "limited-may-all" },
        // Most of the other roles that a cluster comes with are filled by a controller.
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "limited" }],
    }));
    bindings.create(&PostParams::default(), &binding.unwrap()).await.unwrap();
    let deadline = Instant::now() + SOON;
    while let Err(error) = limited.list(&ListParams::default()).await {
        assert!(Instant::now() < deadline, "still refused: {error}");
    }
}

async fn fresh_namespace(client: &Client) -> String {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let wanted = from_value(json!({ "metadata": { "generateName": "devcluster-" } })).unwrap();
    namespaces.create(&PostParams::default(), &wanted).await.unwrap().metadata.name.unwrap()
}

#[test]
fn kubectl_understands_the_server() {
    let Some(cluster) = devcluster::or_skip("kubectl_understands_the_server") else { return };
    let mut kubectl = Command::new("kubectl");
    kubectl.arg("--kubeconfig").arg(cluster.kubeconfig_path()).args(["version", "-o", "json"]);
    let Ok(output) = kubectl.output() else {
        return skip::report("kubectl_understands_the_server", "there is no kubectl on PATH");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let versions: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(versions["serverVersion"]["major"], "1");
}

#[test]
fn a_flag_that_kube_apiserver_refuses_is_reported_with_its_own_words() {
    let name = "a_flag_that_kube_apiserver_refuses_is_reported_with_its_own_words";
    if !devcluster::can_start() {
        return skip::report(name, NO_GO);
    }
    let options = ServerOptions { server_flags: vec!["--no-such-flag".into()], ..ServerOptions::default() };
    let error = anyhow::Error::new(DevCluster::start(&options).unwrap_err());
    assert!(format!("{error:#}").contains("unknown flag: --no-such-flag"), "{error:#}");
}

#[test]
fn a_server_that_is_dropped_leaves_neither_process_nor_data() {
    let name = "a_server_that_is_dropped_leaves_neither_process_nor_data";
    if !devcluster::can_start() {
        return skip::report(name, NO_GO);
    }
    let cluster = DevCluster::start(&ServerOptions::default()).unwrap();
    let (kubeconfig, url) = (cluster.kubeconfig_path().to_owned(), cluster.url());
    assert!(answers(&url));
    drop(cluster);
    assert!(!answers(&url));
    assert!(!kubeconfig.parent().unwrap().exists());
}

#[test]
fn a_server_whose_owner_is_killed_leaves_neither_process_nor_data() {
    let name = "a_server_whose_owner_is_killed_leaves_neither_process_nor_data";
    if !devcluster::can_start() {
        return skip::report(name, NO_GO);
    }
    let mut owner = Owner::start();
    let kubeconfig = owner.kubeconfig();
    let url = url_in(&kubeconfig);
    assert!(answers(&url));
    owner.0.kill().unwrap();
    let deadline = Instant::now() + SOON;
    while answers(&url) || kubeconfig.parent().unwrap().exists() {
        assert!(Instant::now() < deadline, "the server at {url} outlived its owner");
        std::thread::yield_now();
    }
}

/// Another process that owns a server.
struct Owner(Child);

impl Owner {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_devcluster-up"));
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn kubeconfig(&mut self) -> PathBuf {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().strip_prefix("export KUBECONFIG=").unwrap().into()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn client_of(kubeconfig: &Path) -> Client {
    let file = Kubeconfig::read_from(kubeconfig).unwrap();
    Client::try_from(Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap())
        .unwrap()
}

fn url_in(kubeconfig: &Path) -> String {
    let file = Kubeconfig::read_from(kubeconfig).unwrap();
    file.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap()
}

/// Whether somebody accepts connections there.
fn answers(url: &str) -> bool {
    std::net::TcpStream::connect(url.trim_start_matches("https://")).is_ok()
}
