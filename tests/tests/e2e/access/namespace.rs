//! The real garbage collector and namespace controller around accesses (architecture.md §6).

use cosi_sim::driver::On;
use cosi_tests::devcluster;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams};

use super::{ready, start};
use crate::world::{AccessWish, World, eventually, has_finalizer, is_clean};

/// Whether there are controllers; says so if not.
fn controllers() -> bool {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    devcluster::with_controllers_or_skip(&test).is_some()
}

async fn delete_namespace(world: &World) {
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    namespaces.delete(&world.namespace, &DeleteParams::default()).await.unwrap();
}

async fn wait_no_namespace(world: &World) {
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    eventually("the namespace to be gone", async || {
        match namespaces.get_opt(&world.namespace).await.unwrap() {
            None => Ok(()),
            Some(left) => Err(format!("{:?}", left.status)),
        }
    })
    .await;
}

/// Accesses in every state, in a namespace that is deleted: all accounts go, and the namespace does.
#[tokio::test]
async fn a_deleted_namespace_takes_all_accounts_with_it() {
    if !controllers() {
        return;
    }
    let Some((world, bucket)) = start().await else { return };
    let second = world.bucket().await;
    let mut accesses = vec![ready(&world, &bucket).await, ready(&world, &bucket).await];
    let several = world.access(AccessWish::to(&bucket).await.and(&second, "ReadOnly").await).await;
    several.wait_ready().await;
    accesses.push(several);
    let failing = world.plan_access(AccessWish::to(&bucket).await).await;
    let denied = cosi_sim::driver::Step::done_but(tonic::Code::PermissionDenied);
    world.driver.rule(On::grant().named(&failing.account_name()), denied);
    failing.hand_over().await;
    failing.wait_error("PERMISSION_DENIED").await;
    accesses.push(failing);
    delete_namespace(&world).await;
    for access in &accesses {
        let what = "the sidecar's part in a namespace that goes";
        let left = access.wait(what, is_clean).await;
        assert!(has_finalizer(&left));
        access.finish().await;
    }
    world.driver.grants_exactly(&[]).unwrap();
    wait_no_namespace(&world).await;
    world.end().await;
}

/// The Secret goes first and can't be made again in a namespace that goes: the access is not Ready any more, and nobody is
/// asked for new credentials.
#[tokio::test]
async fn in_a_terminating_namespace_no_secret_is_made_again_and_nothing_granted() {
    if !controllers() {
        return;
    }
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    // The namespace controller deletes by kind, in no order: here Secrets come first. The access is held back from it.
    delete_namespace(&world).await;
    access.lose_secret(0).await;
    access.wait("an access without credentials", |access| !crate::world::is_ready(access)).await;
    assert_eq!(world.driver.count(&On::grant()), 1, "no Grant without a reserved Secret");
    let what = "the sidecar's part in a namespace that goes";
    access.wait(what, is_clean).await;
    access.finish().await;
    wait_no_namespace(&world).await;
    world.end().await;
}

/// An access taken by force while the sidecar looks on: its Secret is released, and the collector takes it.
#[tokio::test]
async fn the_collector_takes_the_secret_of_an_access_that_went_by_force() {
    if !controllers() {
        return;
    }
    let Some((world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    world.may_leave_account(&access);
    access.remove_by_force().await;
    eventually("the Secret to be collected", async || match access.secret(0).await {
        None => Ok(()),
        Some(secret) => Err(format!("{:?}", secret.metadata)),
    })
    .await;
    world.end().await;
}

/// The same while no sidecar runs: what the documentation says that a person must take off, and nothing more.
#[tokio::test]
async fn taken_by_force_while_no_sidecar_runs_a_secret_waits_for_a_person() {
    if !controllers() {
        return;
    }
    let Some((mut world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    world.may_leave_account(&access);
    world.sidecar.kill();
    access.remove_by_force().await;
    let held = |secret: &k8s_openapi::api::core::v1::Secret| secret.metadata.deletion_timestamp.is_some();
    access.wait_secret(0, "to be deleted by the collector", held).await;
    world.sidecar.start().unwrap();
    ready(&world, &bucket).await.go().await;
    access.patch_secret(0, &serde_json::json!({ "metadata": { "finalizers": null } })).await;
    assert!(access.secret(0).await.is_none());
    world.end().await;
}
