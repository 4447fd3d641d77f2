//! What a person has not set up, and what the log says about it.

use cosi_sim::proxy::{Action, Match};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;

use super::{LEADS, QUICK};
use crate::world::{Setup, Wish, fresh_name};

/// C43: one sentence, no flood, and no restart is needed once it is done.
#[tokio::test]
async fn a_missing_right_is_named_and_waited_for() {
    let Some(mut world) = Setup::default().elects(QUICK).sidecar_not_started().start().await else { return };
    let rule = world.proxy.rule(Match::any().on("leases"), Action::status(403));
    world.sidecar.start().unwrap();
    let bucket = world.create(Wish::delete()).await;
    rule.wait_hits(3).await.unwrap();
    rule.off();
    bucket.wait_ready().await;
    let told = world.sidecar.lines_with("allow create, get, watch and patch on leases.coordination.k8s.io");
    assert_eq!(told.len(), 1, "{}", world.sidecar.log());
    world.end().await;
}

#[tokio::test]
async fn a_missing_namespace_is_named_and_waited_for() {
    let Some(mut world) = Setup::default().elects(QUICK).sidecar_not_started().start().await else { return };
    let name = fresh_name("ns").replace('.', "-");
    world.sidecar.replace_arg("--leader-election-namespace", &name);
    world.sidecar.start().unwrap();
    world.sidecar.wait_log("make its namespace, or name another one", 1).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let namespace = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    world.sidecar.wait_log(LEADS, 1).await.unwrap();
    world.sidecar.kill();
    namespaces.delete(&name, &DeleteParams::default()).await.unwrap();
    world.end_stopped().await;
}

/// A watch makes the hand-over quick, not right.
#[tokio::test]
async fn without_a_watch_the_lease_is_read_once_per_period() {
    let Some(mut world) = Setup::default().elects(QUICK).start().await else { return };
    world.bucket().await;
    let mut rival = world.rival().await;
    rival.proxy.rule(Match::watch("leases"), Action::status(403));
    rival.sidecar.start().unwrap();
    rival.sidecar.wait_log("standing by: another process leads", 1).await.unwrap();
    let begin = std::time::Instant::now();
    world.sidecar.terminate().unwrap();
    assert!(world.sidecar.wait_exit().await.unwrap().success());
    rival.sidecar.wait_log(LEADS, 1).await.unwrap();
    assert!(begin.elapsed() < 4 * QUICK.retry + std::time::Duration::from_secs(1), "{:?}", begin.elapsed());
    drop(rival);
    world.end_stopped().await;
}
