//! An access is granted: what is asked of the driver, when, and what stands in the API afterwards.

use cosi_api::names::SIDECAR_CLEANUP_FINISHED;
use cosi_proto::v1alpha2::{
    DriverGrantBucketAccessRequest, access_mode, authentication_type, object_protocol,
};
use cosi_sim::driver::{Call, Ids, Keys, On, Request, Step};
use cosi_sim::proxy::Match;
use rstest::rstest;
use serde_json::json;
use tonic::Code;

use super::{ready, start, start_with};
use crate::world::{AccessWish, Setup, has_finalizer, is_clean};

/// The request of a Grant.
fn granted(call: &Call) -> &DriverGrantBucketAccessRequest {
    match &call.request {
        Request::Grant(request) => request,
        other => panic!("a Grant, not {other:?}"),
    }
}

/// The main job: protocol.md §1 on the wire, §4 in the API.
#[tokio::test]
async fn an_access_becomes_a_secret_with_credentials_that_work() {
    let Some((world, bucket)) = start().await else { return };
    let wish = AccessWish::to(&bucket).await.status("parameters", json!({ "tier": "cold" }));
    let access = world.access(wish.spec("serviceAccountName", "robot".into())).await;
    let account = access.wait_ready().await;
    assert_eq!(account, access.account_name(), "the id is the backend's");

    let call = &world.driver.calls(&On::grant())[0];
    assert!(call.timeout.is_some() && call.not_after_ns.is_some(), "R15: {call:?}");
    let request = granted(call);
    assert_eq!(request.account_name, access.account_name());
    assert_eq!(request.protocol.unwrap().r#type(), object_protocol::Type::S3);
    assert_eq!(request.authentication_type.unwrap().r#type(), authentication_type::Type::Key);
    assert_eq!(request.service_account_name, "", "only for ServiceAccount");
    assert_eq!(json!(request.parameters), json!({ "tier": "cold" }));
    assert_eq!(request.buckets.len(), 1);
    assert_eq!(request.buckets[0].bucket_id, access.wish_id(0));
    assert_eq!(request.buckets[0].access_mode.unwrap().mode(), access_mode::Mode::ReadWrite);
    assert!(access.events().await.is_empty(), "R16: the success path writes no Event");
    access.go().await;
    world.end().await;
}

/// C34: the mode of every bucket is on the wire.
#[tokio::test]
async fn an_access_to_several_buckets_is_one_account_and_a_secret_for_each() {
    let Some((world, first)) = start().await else { return };
    let (second, third) = (world.bucket().await, world.bucket().await);
    let wish = AccessWish::to(&first).await.and(&second, "ReadOnly").await.and(&third, "WriteOnly").await;
    let access = world.access(wish).await;
    access.wait_ready().await;
    let calls = world.driver.calls(&On::grant());
    assert_eq!(calls.len(), 1);
    let mut asked: Vec<(&str, i32)> = granted(&calls[0])
        .buckets
        .iter()
        .map(|bucket| (bucket.bucket_id.as_str(), bucket.access_mode.unwrap().mode))
        .collect();
    asked.sort_unstable();
    let mut wished = vec![(access.wish_id(0), 1), (access.wish_id(1), 2), (access.wish_id(2), 3)];
    wished.sort_unstable();
    assert_eq!(asked, wished);
    for n in 0..3 {
        assert_eq!(
            access.credentials(n).await["COSI_S3_BUCKET_ID"],
            access.wish_id(n),
            "each its own bucket"
        );
    }
    access.go().await;
    world.end().await;
}

/// I5: no Grant before every Secret is reserved: there, ours, and empty.
#[tokio::test]
async fn every_secret_is_reserved_before_the_driver_hears_of_the_access() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let wish = AccessWish::to(&first).await.and(&second, "ReadOnly").await;
    let held = world.driver.rule(On::grant(), Step::hold());
    let access = world.access(wish).await;
    held.wait_hit().await.unwrap();
    for n in 0..2 {
        let secret = access.secret(n).await.expect("a reserved Secret");
        access.check_reserved(&secret);
        assert_eq!(secret.data.unwrap_or_default().len(), 0, "nothing in it yet");
    }
    held.release();
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// C35: several buckets and a driver that can't: a sentence for the user, and no call until something changes.
#[tokio::test]
async fn a_driver_that_cannot_do_several_buckets_says_so_once() {
    let setup = Setup::traced().driver(|driver| driver.multi_bucket = false);
    let never = std::time::Duration::from_mins(10);
    let Some((world, first)) = start_with(setup.recheck(never)).await else { return };
    let second = world.bucket().await;
    let access = world.access(AccessWish::to(&first).await.and(&second, "ReadOnly").await).await;
    let message = access.wait_error("OUT_OF_RANGE").await;
    assert!(message.contains("one bucket per access"), "the driver's own words: {message}");
    access.wait_event("Refused").await;
    world.driver.wait_quiet(std::time::Duration::from_secs(1)).await.unwrap();
    assert_eq!(world.driver.count(&On::grant()), 1, "protocol.md §2: not retried");
    access.go().await;
    world.end().await;
}

/// R1: a hand-over whose object lost the finalizer gets it back before anything is sent.
#[tokio::test]
async fn a_missing_finalizer_is_put_back_before_anything_is_sent() {
    let Some((world, bucket)) = start().await else { return };
    let held = world.driver.rule(On::grant(), Step::hold());
    let access = world.access(AccessWish::to(&bucket).await.metadata("finalizers", json!([]))).await;
    held.wait_hit().await.unwrap();
    assert!(has_finalizer(&access.get().await.unwrap()), "R1");
    held.release();
    access.wait_ready().await;
    // And again while Ready.
    access.patch(&json!({ "metadata": { "finalizers": null } })).await;
    access.wait("the finalizer again", has_finalizer).await;
    access.go().await;
    assert_eq!(world.driver.count(&On::grant()), 1);
    world.end().await;
}

/// A live access can't have been cleaned up: the annotation goes before the Grant, or the controller would let a granted
/// access go.
#[tokio::test]
async fn a_live_access_loses_the_mark_of_a_finished_cleanup_before_the_grant() {
    let Some((world, bucket)) = start().await else { return };
    let marked = json!({ SIDECAR_CLEANUP_FINISHED: "" });
    let held = world.driver.rule(On::grant(), Step::hold());
    let access = world.access(AccessWish::to(&bucket).await.metadata("annotations", marked)).await;
    held.wait_hit().await.unwrap();
    assert!(!is_clean(&access.get().await.unwrap()));
    held.release();
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// C37, R2, R7: lost answers and deaths in between end in one account, and the keys in the Secret are those that work –
/// with a driver that voids the old key at every Grant, too.
#[rstest]
#[tokio::test]
async fn repeated_grants_leave_one_account_and_the_keys_that_work(
    #[values(Keys::Same, Keys::Rotating)] keys: Keys,
    #[values(Ids::Derived("t/".into()), Ids::Opaque)] ids: Ids,
) {
    let setup = Setup::traced().driver(|driver| (driver.keys, driver.ids) = (keys, ids));
    let Some((mut world, bucket)) = start_with(setup).await else { return };
    let lost = [Step::done_but(Code::Internal), Step::do_then_cut(), Step::do_then_hang()];
    let lost = world.driver.script(On::grant(), lost);
    let access = world.access(AccessWish::to(&bucket).await).await;
    lost.wait_hits(3).await.unwrap();
    world.restart_sidecar();
    access.wait_ready().await;
    let calls = world.driver.calls(&On::grant());
    assert!(calls.iter().all(|call| granted(call) == granted(&calls[0])), "R2: the same request each time");
    assert_eq!(world.driver.accounts()[0].keys.len(), 1, "C37");
    access.go().await;
    world.end().await;
}

/// R9, I9: once Ready, neither labels nor a new process lead to another call or write.
#[tokio::test]
async fn a_ready_access_that_is_touched_or_found_again_is_left_as_it_is() {
    let Some((mut world, bucket)) = start().await else { return };
    let access = ready(&world, &bucket).await;
    let mark = world.proxy.mark();
    access.patch(&json!({ "metadata": { "labels": { "touched": "yes" } } })).await;
    world.restart_sidecar();
    // When this later one is through, so is what came before.
    let last = ready(&world, &bucket).await;
    assert_eq!(world.driver.count(&On::grant().named(&access.account_name())), 1, "R9");
    let writes = world.proxy.log().since(mark).only(&Match::writes());
    let about = |name: &str| writes.clone().only(&Match::any().named(name)).entries.len();
    assert_eq!(about(&access.name) + about(access.secret_name(0)), 0, "{writes}");
    access.go().await;
    last.go().await;
    world.end().await;
}

/// C9: an access of another driver is none of ours, whatever becomes of it.
#[tokio::test]
async fn an_access_of_another_driver_is_left_alone() {
    let Some((world, bucket)) = start().await else { return };
    let other = AccessWish::to(&bucket).await.status("driverName", "other.driver".into());
    let other = world.access(other.metadata("finalizers", json!([]))).await;
    let ours = ready(&world, &bucket).await;
    other.delete().await;
    ours.go().await;
    let touched = world.proxy.log().only(&Match::writes().named(&other.name));
    assert_eq!(touched.entries.len(), 0, "{touched}");
    assert!(other.secret(0).await.is_none());
    world.end().await;
}
