//! Everything that can be scripted.

use std::time::Duration;

use cosi_proto::v1alpha2::provisioner_client::ProvisionerClient;
use cosi_sim::driver::{Abilities, End, Nonsense, On, Rpc, ScriptedDriver, Step};
use tonic::Code;

use crate::support::{Client, create_request, start};

fn ends_of(driver: &ScriptedDriver, on: &On) -> Vec<End> {
    let ledger = driver.ledger();
    driver.calls(on).iter().map(|call| ledger.end_of(call.number).expect("no end").1.clone()).collect()
}

#[tokio::test]
async fn any_code_can_be_answered_before_anything_is_done() {
    let (driver, client) = start(Abilities::default());
    for code in (1..=16).chain([17, 99, 1000]) {
        driver.rule(On::create().nth(1), Step::fail(code));
        let status = client.create("b").await.unwrap_err();
        assert_eq!(status.code(), Code::from_i32(code));
        assert!(!status.message().is_empty());
        let expected = End::Answered { code, message: status.message().to_owned() };
        assert_eq!(ends_of(&driver, &On::create()).last(), Some(&expected));
    }
    driver.holds_exactly(&[]).unwrap();
    assert_eq!(client.create("b").await.unwrap(), "b");
}

#[tokio::test]
async fn a_code_above_16_is_on_the_wire_as_it_is() {
    let driver = ScriptedDriver::start(Abilities::default()).unwrap();
    driver.rule(On::create(), Step::fail(99));
    let (codes, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let spy = move |response: http::Response<tonic::body::Body>| {
        codes.send(response.headers().get("grpc-status").cloned()).unwrap();
        response
    };
    let channel = tonic::transport::Endpoint::try_from(driver.endpoint()).unwrap().connect_lazy();
    let mut client = ProvisionerClient::new(tower::ServiceBuilder::new().map_response(spy).service(channel));
    client.driver_create_bucket(create_request("b")).await.unwrap_err();
    assert_eq!(seen.recv().await.unwrap().unwrap(), "99");
}

#[tokio::test]
async fn every_rpc_can_be_made_to_fail() {
    let (driver, client) = start(Abilities::default());
    driver.rule(On::any(), Step::fail(Code::DataLoss));
    let mut codes =
        vec![client.create("b").await.unwrap_err().code(), client.delete("b").await.unwrap_err().code()];
    codes.push(client.delete_by_name("b").await.unwrap_err().code());
    codes.push(client.get_existing("b").await.unwrap_err().code());
    codes.push(client.get_info().await.unwrap_err().code());
    assert_eq!(codes, [Code::DataLoss; 5]);
    let rpcs: Vec<Rpc> = driver.calls(&On::any()).iter().map(|call| call.rpc).collect();
    assert_eq!(rpcs, [Rpc::Create, Rpc::Delete, Rpc::DeleteByName, Rpc::GetExisting, Rpc::GetInfo]);
}

#[tokio::test]
async fn done_but_answered_with_an_error_is_done() {
    let (driver, client) = start(Abilities::default());
    driver.rule(On::any().first(1), Step::done_but(Code::Internal));
    assert_eq!(client.create("b").await.unwrap_err().code(), Code::Internal);
    driver.holds_exactly(&["b"]).unwrap();
}

#[tokio::test]
async fn a_half_made_bucket_is_completed_by_the_next_create() {
    let (driver, client) = start(Abilities::default());
    driver.rule(On::create().first(1), Step::half_done(Code::Unavailable));
    assert!(client.create("b").await.is_err());
    assert!(driver.bucket("b").unwrap().half);
    client.create("b").await.unwrap();
    assert!(!driver.bucket("b").unwrap().half);

    driver.rule(On::delete().first(1), Step::half_done(Code::Unavailable));
    assert!(client.delete("b").await.is_err());
    driver.holds_exactly(&["b"]).unwrap();
}

#[tokio::test]
async fn a_hanging_call_ends_with_its_clients_patience() {
    let (driver, client) = start(Abilities::default());
    driver.rule(On::create().nth(1), Step::hang());
    driver.rule(On::create().nth(2), Step::do_then_hang());
    for buckets in [&[][..], &["b"]] {
        let status = client.create_within("b", Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(status.code(), Code::Cancelled);
        driver.wait_holds(buckets).await.unwrap();
    }
    // The next call is served as usual, though the first two hold the name until their client is gone.
    client.create("b").await.unwrap();
    assert_eq!(ends_of(&driver, &On::create().named("b"))[..2], [End::Gone, End::Gone]);
}

#[tokio::test]
async fn a_call_can_land_after_its_client_gave_up_even_if_the_driver_died() {
    let (driver, client) = start(Abilities::default());
    let rule = driver.rule(On::create().nth(1), Step::hang_then_land_on_release());
    assert!(client.create_within("b", Duration::from_millis(50)).await.is_err());
    driver.kill();
    driver.holds_exactly(&[]).unwrap();
    rule.release();
    driver.wait_holds(&["b"]).await.unwrap();
}

#[tokio::test]
async fn a_call_can_be_answered_with_an_error_and_land_later() {
    let (driver, client) = start(Abilities::default());
    let rule = driver.rule(On::create().nth(1), Step::fail_then_land_on_release(Code::Internal));
    driver.rule(On::create().nth(2), Step::fail_then_land(Code::Internal, Duration::from_millis(20)));
    assert!(client.create("b").await.is_err());
    driver.holds_exactly(&[]).unwrap();
    rule.release();
    driver.wait_holds(&["b"]).await.unwrap();

    client.delete_by_name("b").await.unwrap();
    assert!(client.create("b").await.is_err());
    driver.wait_holds(&["b"]).await.unwrap();
    assert_eq!(driver.check(Duration::ZERO).unwrap_err().invariant, "I2");
}

#[tokio::test]
async fn a_held_call_waits_before_or_after_doing_it() {
    let (driver, client) = start(Abilities::default());
    let before = driver.rule(On::create().named("before"), Step::hold());
    let after = driver.rule(On::create().named("after"), Step::do_then_hold());
    let call = |name: &'static str| {
        let client = client.clone();
        tokio::spawn(async move { client.create(name).await })
    };
    let (first, second) = (call("before"), call("after"));
    before.wait_hit().await.unwrap();
    driver.wait_holds(&["after"]).await.unwrap();
    assert!(!first.is_finished() && !second.is_finished());
    before.release();
    after.release();
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    driver.holds_exactly(&["after", "before"]).unwrap();
}

#[tokio::test]
async fn a_held_call_is_carried_through_when_its_client_is_gone() {
    let (driver, client) = start(Abilities::default());
    let rule = driver.rule(On::create(), Step::hold());
    assert!(client.create_within("b", Duration::from_millis(50)).await.is_err());
    rule.release();
    driver.wait_holds(&["b"]).await.unwrap();
}

#[tokio::test]
async fn a_cut_connection_is_made_anew_and_the_driver_knows_everything() {
    let (driver, client) = start(Abilities::default());
    driver.script(On::create(), [Step::cut(), Step::do_then_cut()]);
    for buckets in [&[][..], &["b"]] {
        client.create("b").await.unwrap_err();
        driver.wait_holds(buckets).await.unwrap();
    }
    client.create("b").await.unwrap();
    assert_eq!(driver.connections(), 3);
    assert_eq!(ends_of(&driver, &On::create())[..2], [End::Gone, End::Gone]);
}

#[tokio::test]
async fn a_crash_before_or_after_doing_it_needs_a_restart() {
    let (driver, client) = start(Abilities::default());
    driver.script(On::create(), [Step::crash(), Step::do_then_crash()]);
    for buckets in [&[][..], &["b"]] {
        client.create("b").await.unwrap_err();
        driver.holds_exactly(buckets).unwrap();
        assert_eq!(client.get_info().await.unwrap_err().code(), Code::Unavailable);
        driver.restart().unwrap();
    }
    client.get_info().await.unwrap();
}

#[tokio::test]
async fn a_crash_ends_what_was_running() {
    let (driver, client) = start(Abilities::default());
    let rule = driver.rule(On::create().named("held"), Step::hold());
    let held = tokio::spawn({
        let client = client.clone();
        async move { client.create("held").await }
    });
    rule.wait_hit().await.unwrap();
    driver.kill();
    held.await.unwrap().unwrap_err();
    rule.release();
    driver.restart().unwrap();
    client.create("b").await.unwrap();
    driver.holds_exactly(&["b"]).unwrap();
}

#[tokio::test]
async fn nonsense_is_answered_as_asked_for_while_the_bucket_is_real() {
    let (driver, client) = start(Abilities::default());
    let long = "x".repeat(3000);
    let answers = [
        Step::nonsense(Nonsense::EmptyId),
        Step::nonsense(Nonsense::Id(long.clone())),
        Step::nonsense(Nonsense::NoProtocolInfo),
        Step::nonsense(Nonsense::OtherProtocol),
        Step::nonsense(Nonsense::EmptyFields),
    ];
    driver.add_foreign("x");
    driver.script(On::get_existing(), answers);
    let mut replies = Vec::new();
    for _ in 0..6 {
        replies.push(client.get_existing("x").await.unwrap());
    }
    let info = |n: usize| replies[n].protocols.clone();
    assert_eq!((replies[0].bucket_id.as_str(), &replies[1].bucket_id), ("", &long));
    assert_eq!(info(2), None);
    assert!(info(3).unwrap().azure.is_some() && info(3).unwrap().s3.is_none());
    assert_eq!(info(4).unwrap().s3.unwrap().endpoint, "");
    assert_eq!(info(5).unwrap().s3.unwrap().bucket_id, "x");
}

#[tokio::test]
async fn a_message_of_40_kib_gets_through() {
    let (driver, client) = start(Abilities::default());
    driver.rule(On::create(), Step::fail(Code::Internal).message("é".repeat(20 << 10)));
    assert_eq!(client.create("b").await.unwrap_err().message().len(), 40 << 10);
}

#[tokio::test]
async fn callbacks_run_before_and_after_the_bucket_is_there() {
    let (driver, client) = start(Abilities::default());
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let look = || {
        let (driver, seen) = (driver.clone(), seen.clone());
        move |_call| {
            seen.lock().unwrap().push(driver.buckets().len());
            std::future::ready(())
        }
    };
    driver.rule(On::create(), Step::honest().before(look()).after(look()));
    client.create("b").await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [0, 1]);
}

#[tokio::test]
async fn a_slow_driver_takes_its_time() {
    let (driver, client): (_, Client) = start(Abilities::default());
    driver.rule(On::create(), Step::delay(Duration::from_millis(50)));
    let begun = std::time::Instant::now();
    client.create("b").await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(50));
    driver.wait_quiet(Duration::from_millis(20)).await.unwrap();
}
