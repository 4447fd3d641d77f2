//! RBAC: the rights in deploy/rbac.yaml are enough, and each of them is used (C43).

use std::fs;
use std::io::Write as _;
use std::path::Path;

use cosi_sim::driver::{On, Step};
use cosi_tests::sidecar::Sidecar;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding};
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use kube::config::Kubeconfig;
use serde_json::json;
use tempfile::NamedTempFile;
use tonic::Code;

use crate::world::{
    AccessWish, Setup, TestAccess, TestBucket, Wish, World, eventually, fresh_name, is_clean, is_ready,
};

/// The sidecar of a world, run as a user who has only these rights.
struct Limited {
    world: World,
    role: String,
    _kubeconfig: NamedTempFile,
}

impl Limited {
    async fn start(rights: Rights) -> Option<Self> {
        let mut world = Setup::default().sidecar_not_started().start().await?;
        let name = fresh_name("role");
        let kubeconfig = kubeconfig_as(world.cluster.kubeconfig_path(), &name);
        let mut sidecar = Sidecar::new([
            "--driver-endpoint".into(),
            world.driver.endpoint(),
            "--kubeconfig".into(),
            kubeconfig.path().display().to_string(),
            "--retry-interval-start=50ms".into(),
            "--retry-interval-max=400ms".into(),
            "--late-landing-grace=500ms".into(),
            "--timeout=1s".into(),
            "--log-level=debug".into(),
            "--recheck-interval=1s".into(),
            "--leader-election-lease-duration=3s".into(),
            "--leader-election-renew-deadline=2s".into(),
            "--leader-election-retry-period=500ms".into(),
            format!("--leader-election-namespace={}", world.namespace),
        ])
        .unwrap();
        grant(&world, &name, rights).await;
        sidecar.start().unwrap();
        world.sidecar = sidecar;
        Some(Self { world, role: name, _kubeconfig: kubeconfig })
    }

    async fn end(self) {
        let Self { world, role, .. } = self;
        let options = DeleteParams::default();
        Api::<ClusterRoleBinding>::all(world.client.clone()).delete(&role, &options).await.unwrap();
        Api::<ClusterRole>::all(world.client.clone()).delete(&role, &options).await.unwrap();
        world.end_stopped().await;
    }
}

/// C43: a whole life with Events, with exactly the rights that are documented.
#[tokio::test]
async fn the_documented_rights_are_enough() {
    let Some(limited) = Limited::start(documented()).await else { return };
    let world = &limited.world;
    world.driver.rule(On::create().nth(1), Step::fail(Code::PermissionDenied));
    let bucket = world.create(Wish::delete()).await;
    bucket.wait_ready().await;
    bucket.wait_event("Failing").await;
    bucket.wait_claim_event("Failing").await;
    a_whole_access(world, &bucket).await;
    // Without the annotation, the claim itself must be looked at.
    bucket.delete().await;
    bucket.delete_claim().await;
    bucket.wait_gone().await;
    world.driver.holds_exactly(&[]).unwrap();
    assert_eq!(world.sidecar.lines_with("forbid"), Vec::<String>::new());
    limited.end().await;
}

/// Everything that may have to be done for an access: a finalizer put back, credentials renewed, a name that is taken.
async fn a_whole_access(world: &World, bucket: &TestBucket) {
    world.driver.rule(On::grant().nth(1), Step::fail(Code::PermissionDenied));
    let access = world.access(AccessWish::to(bucket).await.metadata("finalizers", json!([]))).await;
    access.wait_ready().await;
    access.wait_event("Failing").await;
    access.lose_secret(0).await;
    access.patch(&json!({ "metadata": { "labels": { "looked": "at" } } })).await;
    world.driver.wait_calls(&On::grant(), 3).await.unwrap();
    access.wait_ready().await;
    access.go().await;
}

/// C43: without any one of them, something is missing; so none is there in vain. The log says that RBAC is why.
#[tokio::test]
async fn none_of_the_documented_rights_is_there_in_vain() {
    for (resource, verb) in documented_pairs() {
        let Some(limited) = Limited::start(without(&resource, &verb)).await else { return };
        let world = &limited.world;
        world.driver.rule(On::create().nth(1), Step::fail(Code::PermissionDenied));
        let bucket = world.create(Wish::delete()).await;
        let wish = AccessWish::to_not_ready(&bucket).await.metadata("finalizers", json!([]));
        let access = world.access(wish).await;
        eventually(&format!("{verb} on {resource} to be asked for and refused"), async || {
            go_on(&bucket, &access).await;
            let log = world.sidecar.log();
            let refused = log.lines().any(|line| line.to_lowercase().contains("forbid"));
            if refused { Ok(()) } else { Err(log) }
        })
        .await;
        limited.end().await;
    }
}

/// The user's next step in a life that leads past every right: both Ready, then both deleted. The live read before a call,
/// and the look at the claim, come with a deletion.
async fn go_on(bucket: &TestBucket, access: &TestAccess) {
    match access.get().await {
        Some(object) if is_ready(&object) => access.delete().await,
        Some(object) if is_clean(&object) => access.finish().await,
        Some(_) => {}
        None => bucket.delete().await,
    }
}

/// What deploy/rbac.yaml grants: in the whole cluster, and where the sidecar runs.
#[derive(Clone)]
struct Rights {
    cluster: Vec<PolicyRule>,
    own_namespace: Vec<PolicyRule>,
}

impl Rights {
    fn rules(&mut self) -> [&mut Vec<PolicyRule>; 2] {
        [&mut self.cluster, &mut self.own_namespace]
    }
}

fn documented() -> Rights {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/rbac.yaml");
    let text = fs::read_to_string(file).unwrap();
    let (cluster, own_namespace) = text.split_once("\n---\n").unwrap();
    let cluster: ClusterRole = serde_saphyr::from_str(cluster).unwrap();
    let own_namespace: Role = serde_saphyr::from_str(own_namespace).unwrap();
    Rights { cluster: cluster.rules.unwrap(), own_namespace: own_namespace.rules.unwrap() }
}

fn documented_pairs() -> Vec<(String, String)> {
    let pairs = |resource: &String, verbs: &[String]| {
        verbs.iter().map(|verb| (resource.clone(), verb.clone())).collect::<Vec<_>>()
    };
    let mut rights = documented();
    let rules = rights.rules().into_iter().flat_map(|rules| rules.iter());
    rules.flat_map(|rule| rule.resources.iter().flatten().flat_map(|r| pairs(r, &rule.verbs))).collect()
}

fn without(resource: &str, verb: &str) -> Rights {
    let mut rights = documented();
    for rules in rights.rules() {
        for rule in rules.iter_mut().filter(|rule| rule.resources.iter().flatten().any(|r| r == resource)) {
            rule.verbs.retain(|v| v != verb);
        }
        // A rule without verbs is invalid.
        rules.retain(|rule| !rule.verbs.is_empty());
    }
    rights
}

/// As a person would: with the name of the driver put in.
async fn grant(world: &World, name: &str, mut rights: Rights) {
    for names in rights.own_namespace.iter_mut().filter_map(|rule| rule.resource_names.as_mut()) {
        *names = vec![format!("cosi-sidecar-leader-{}", world.driver_name)];
    }
    let metadata = || ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let cluster = ClusterRole { metadata: metadata(), rules: Some(rights.cluster), ..ClusterRole::default() };
    let own_namespace = Role { metadata: metadata(), rules: Some(rights.own_namespace) };
    let binding = |kind: &str| {
        json!({
            "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name }],
        })
    };
    let (options, client) = (PostParams::default(), &world.client);
    Api::all(client.clone()).create(&options, &cluster).await.unwrap();
    let bound: ClusterRoleBinding = serde_json::from_value(binding("ClusterRole")).unwrap();
    Api::all(client.clone()).create(&options, &bound).await.unwrap();
    // These go with the world's namespace.
    Api::namespaced(client.clone(), &world.namespace).create(&options, &own_namespace).await.unwrap();
    let bound: RoleBinding = serde_json::from_value(binding("Role")).unwrap();
    Api::namespaced(client.clone(), &world.namespace).create(&options, &bound).await.unwrap();
}

/// The admin's kubeconfig, but acting as `user`.
fn kubeconfig_as(admin: &Path, user: &str) -> NamedTempFile {
    let config: Kubeconfig = Kubeconfig::read_from(admin).unwrap();
    let mut config = serde_json::to_value(&config).unwrap();
    for entry in config["users"].as_array_mut().unwrap() {
        entry["user"]["as"] = user.into();
    }
    let mut file = tempfile::Builder::new().suffix(".kubeconfig").tempfile().unwrap();
    file.write_all(config.to_string().as_bytes()).unwrap();
    file
}
