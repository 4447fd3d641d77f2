//! Answers to a Grant that cannot be used (protocol.md §2): one clear sentence, nothing reaches a Secret, and what was
//! granted all the same is revoked with the access.

use cosi_proto::v1alpha2::{self as wire, DriverGrantBucketAccessResponse as Answer};
use cosi_sim::driver::{CANARY, Nonsense, On, Step};
use rstest::rstest;

use super::{start, start_with};
use crate::world::{AccessWish, Setup, is_ready};

type Edit = fn(&mut Answer);

fn s3_of(answer: &mut Answer) -> &mut wire::S3BucketInfo {
    answer.buckets[0].bucket_info.as_mut().unwrap().s3.as_mut().unwrap()
}

fn keys_of(answer: &mut Answer) -> &mut wire::S3CredentialInfo {
    answer.credentials.as_mut().unwrap().s3.as_mut().unwrap()
}

fn no_account_id(answer: &mut Answer) {
    answer.account_id.clear();
}

fn odd_account_id(answer: &mut Answer) {
    answer.account_id = "a b\u{e9}".into();
}

fn long_account_id(answer: &mut Answer) {
    answer.account_id = "x".repeat(3000);
}

fn no_buckets(answer: &mut Answer) {
    answer.buckets.clear();
}

fn one_bucket_more(answer: &mut Answer) {
    let mut more = answer.buckets[0].clone();
    more.bucket_id = "not-asked-for".into();
    answer.buckets.push(more);
}

fn another_bucket(answer: &mut Answer) {
    answer.buckets[0].bucket_id = "not-asked-for".into();
}

fn a_bucket_twice(answer: &mut Answer) {
    let again = answer.buckets[0].clone();
    answer.buckets.push(again);
}

fn no_info(answer: &mut Answer) {
    answer.buckets[0].bucket_info = None;
}

fn info_of_another_protocol(answer: &mut Answer) {
    let azure = Some(wire::AzureBucketInfo { storage_account: "other".to_owned() });
    answer.buckets[0].bucket_info = Some(wire::ObjectProtocolAndBucketInfo { azure, ..Default::default() });
}

fn no_endpoint(answer: &mut Answer) {
    s3_of(answer).endpoint.clear();
}

fn no_region(answer: &mut Answer) {
    s3_of(answer).region.clear();
}

fn no_bucket_name(answer: &mut Answer) {
    s3_of(answer).bucket_id.clear();
}

fn no_style(answer: &mut Answer) {
    s3_of(answer).addressing_style = None;
}

fn no_credentials(answer: &mut Answer) {
    answer.credentials = None;
}

fn credentials_of_another_protocol(answer: &mut Answer) {
    let token = wire::AzureCredentialInfo { access_token: CANARY.to_owned(), ..Default::default() };
    answer.credentials = Some(wire::CredentialInfo { azure: Some(token), ..Default::default() });
}

fn no_key_id(answer: &mut Answer) {
    keys_of(answer).access_key_id.clear();
}

fn no_secret_key(answer: &mut Answer) {
    keys_of(answer).access_secret_key.clear();
}

/// C36 and its kind, field by field; the error says what is wrong, and never what the credentials are (I7).
#[rstest]
#[case::no_account_id(no_account_id, "account_id")]
#[case::odd_account_id(odd_account_id, "account_id")]
#[case::long_account_id(long_account_id, "account_id")]
#[case::no_buckets(no_buckets, "bucket")]
#[case::one_bucket_more(one_bucket_more, "not-asked-for")]
#[case::another_bucket(another_bucket, "bucket")]
#[case::a_bucket_twice(a_bucket_twice, "twice")]
#[case::no_info(no_info, "S3")]
#[case::info_of_another_protocol(info_of_another_protocol, "S3")]
#[case::no_endpoint(no_endpoint, "COSI_S3_ENDPOINT")]
#[case::no_region(no_region, "COSI_S3_REGION")]
#[case::no_bucket_name(no_bucket_name, "COSI_S3_BUCKET_ID")]
#[case::no_style(no_style, "COSI_S3_ADDRESSING_STYLE")]
#[case::no_credentials(no_credentials, "credentials")]
#[case::credentials_of_another_protocol(credentials_of_another_protocol, "credentials")]
#[case::no_key_id(no_key_id, "COSI_S3_ACCESS_KEY_ID")]
#[case::no_secret_key(no_secret_key, "COSI_S3_ACCESS_SECRET_KEY")]
#[tokio::test]
async fn an_answer_that_cannot_be_used_reaches_no_secret_and_leaves_no_account(
    #[case] edit: Edit,
    #[case] word: &str,
) {
    let Some((world, bucket)) = start().await else { return };
    world.driver.rule(On::grant().nth(1), Step::edited(edit));
    let access = world.access(AccessWish::to(&bucket).await).await;
    let message = access.wait_error(word).await;
    assert!(message.starts_with("DriverGrantBucketAccess answered OK, but "), "{message}");
    access.wait_event("Refused").await;
    assert!(!is_ready(&access.get().await.unwrap()));
    let reserved = access.secret(0).await.expect("a reserved Secret");
    assert_eq!(reserved.data.unwrap_or_default().len(), 0, "C36: it got into the Secret");
    assert_eq!(world.driver.accounts().len(), 1, "it was granted all the same");
    access.go().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// The same with a driver that does not go by names: an id is all that is needed of such an answer, and if there is none, or
/// none that the protocol allows, a replay tells it.
#[tokio::test]
async fn an_answer_that_cannot_be_used_leaves_no_account_without_the_by_name_rpc() {
    let setup = Setup::traced().driver(|driver| driver.by_name = false);
    let Some((world, bucket)) = start_with(setup).await else { return };
    let edits: [Edit; 6] =
        [no_account_id, odd_account_id, long_account_id, no_buckets, no_credentials, no_secret_key];
    futures::future::join_all(edits.map(async |edit| {
        let access = world.plan_access(AccessWish::to(&bucket).await).await;
        world.driver.rule(On::grant().named(&access.account_name()).nth(1), Step::edited(edit));
        access.hand_over().await;
        access.wait_error("answered OK, but").await;
        access.go().await;
    }))
    .await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}

/// The same of several buckets: which one is said.
#[tokio::test]
async fn an_answer_without_one_of_two_buckets_names_it() {
    let Some((world, first)) = start().await else { return };
    let second = world.bucket().await;
    let left_out = second.name.clone();
    world.driver.rule(
        On::grant().nth(1),
        Step::edited(move |answer| answer.buckets.retain(|bucket| bucket.bucket_id != left_out)),
    );
    let access = world.access(AccessWish::to(&first).await.and(&second, "ReadOnly").await).await;
    access.wait_error(&second.name).await;
    access.go().await;
    world.end().await;
}

/// A driver that comes to its senses is asked again at the re-check.
#[tokio::test]
async fn an_answer_that_could_not_be_used_is_asked_for_again() {
    let setup = Setup::traced().recheck(std::time::Duration::from_millis(800));
    let Some((world, bucket)) = start_with(setup).await else { return };
    world.driver.rule(On::grant().nth(1), Step::nonsense(Nonsense::EmptyFields));
    let access = world.access(AccessWish::to(&bucket).await).await;
    access.wait_error("answered OK, but").await;
    access.wait_ready().await;
    access.go().await;
    world.end().await;
}

/// I7: credentials that no Secret can hold or that look like anything else are reported without being shown.
#[rstest]
#[tokio::test]
async fn junk_in_credentials_is_never_shown(
    #[values("\n", "\u{0}", "=", "é", "{\"a\":1}", " ")] junk: &str,
    #[values(0, 700_000)] filler: usize,
) {
    let Some((world, bucket)) = start().await else { return };
    let text = format!("{CANARY}{junk}{}", "x".repeat(filler));
    let edited = text.clone();
    world.driver.rule(
        On::grant().nth(1),
        Step::edited(move |answer| {
            keys_of(answer).access_key_id.clone_from(&edited);
            keys_of(answer).access_secret_key.clone_from(&edited);
        }),
    );
    let access = world.access(AccessWish::to(&bucket).await).await;
    // Whether it is refused or stored is the sidecar's choice; it must end in one of the two.
    access
        .wait("the answer to be stored or refused", |access| {
            is_ready(access) || crate::world::error_of(access).is_some()
        })
        .await;
    world.check_secrecy().await.unwrap();
    access.go().await;
    world.driver.grants_exactly(&[]).unwrap();
    world.end().await;
}
