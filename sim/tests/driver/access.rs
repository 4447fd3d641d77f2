//! Grant and revoke.

use cosi_proto::v1alpha2 as wire;
use cosi_proto::v1alpha2::driver_grant_bucket_access_request::AccessedBucket;
use cosi_sim::driver::{Abilities, CANARY, Ids, Keys, Nonsense, On, Protocol, Step};
use tonic::{Code, Status};

use crate::support::{Client, start};

fn request(
    name: &str,
    protocol: wire::object_protocol::Type,
    buckets: &[&str],
) -> wire::DriverGrantBucketAccessRequest {
    let read_write = wire::AccessMode { mode: wire::access_mode::Mode::ReadWrite.into() };
    let accessed = |id: &&str| AccessedBucket { bucket_id: (*id).to_owned(), access_mode: Some(read_write) };
    wire::DriverGrantBucketAccessRequest {
        account_name: name.to_owned(),
        protocol: Some(wire::ObjectProtocol { r#type: protocol.into() }),
        authentication_type: Some(wire::AuthenticationType {
            r#type: wire::authentication_type::Type::Key.into(),
        }),
        service_account_name: String::new(),
        parameters: [].into(),
        buckets: buckets.iter().map(accessed).collect(),
    }
}

async fn grant(
    client: &Client,
    name: &str,
    buckets: &[&str],
) -> Result<(String, wire::S3CredentialInfo), Status> {
    let request = request(name, wire::object_protocol::Type::S3, buckets);
    let answer = client.provisioner.clone().driver_grant_bucket_access(request).await?.into_inner();
    assert_eq!(answer.buckets.len(), buckets.len());
    Ok((answer.account_id, answer.credentials.and_then(|info| info.s3).unwrap_or_default()))
}

async fn revoke(client: &Client, id: &str) -> Result<(), Status> {
    let request = wire::DriverRevokeBucketAccessRequest { account_id: id.to_owned(), ..Default::default() };
    client.provisioner.clone().driver_revoke_bucket_access(request).await.map(drop)
}

#[tokio::test]
async fn a_repeated_grant_keeps_rotates_or_piles_up_keys() {
    for (keys, first_works, working) in
        [(Keys::Same, true, 1), (Keys::Rotating, false, 1), (Keys::Piling, true, 2)]
    {
        let (driver, client) = start(Abilities { keys, ids: Ids::Opaque, ..Abilities::default() });
        let bucket = client.create("b").await.unwrap();
        let (id, first) = grant(&client, "a", &[&bucket]).await.unwrap();
        let (again, second) = grant(&client, "a", &[&bucket]).await.unwrap();
        assert_eq!(id, again);
        assert_eq!(driver.key_works(&first.access_key_id, &first.access_secret_key), first_works, "{keys:?}");
        assert!(driver.key_works(&second.access_key_id, &second.access_secret_key));
        assert!(!driver.key_works(&second.access_key_id, "guessed"));
        assert_eq!(driver.accounts()[0].keys.len(), working);

        revoke(&client, &id).await.unwrap();
        revoke(&client, &id).await.unwrap();
        assert!(driver.accounts().is_empty());
        assert!(!driver.key_works(&second.access_key_id, &second.access_secret_key));
    }
}

#[tokio::test]
async fn an_account_can_be_revoked_by_name_if_the_driver_knows_how() {
    let (driver, client) = start(Abilities { by_name: false, ..Abilities::default() });
    client.create("b").await.unwrap();
    grant(&client, "a", &["b"]).await.unwrap();
    let asked = request("a", wire::object_protocol::Type::S3, &["b"]);
    let by_name = wire::DriverRevokeBucketAccessByNameRequest {
        account_name: asked.account_name,
        protocol: asked.protocol,
        authentication_type: asked.authentication_type,
        ..Default::default()
    };
    let revoke = || {
        let (mut provisioner, request) = (client.provisioner.clone(), by_name.clone());
        async move { provisioner.driver_revoke_bucket_access_by_name(request).await }
    };
    assert_eq!(revoke().await.unwrap_err().code(), Code::Unimplemented);
    driver.set(|abilities| abilities.by_name = true);
    revoke().await.unwrap();
    assert!(driver.accounts().is_empty());
}

#[tokio::test]
async fn a_grant_can_be_refused_for_good_reasons() {
    let (driver, client) = start(Abilities { multi_bucket: false, ..Abilities::default() });
    client.create("b").await.unwrap();
    client.create("c").await.unwrap();
    assert_eq!(grant(&client, "a", &["b", "c"]).await.unwrap_err().code(), Code::OutOfRange);
    assert_eq!(grant(&client, "a", &["absent"]).await.unwrap_err().code(), Code::NotFound);
    grant(&client, "a", &["b"]).await.unwrap();
    assert_eq!(grant(&client, "a", &["c"]).await.unwrap_err().code(), Code::AlreadyExists);
    driver.rule(On::grant(), Step::nonsense(Nonsense::NoProtocolInfo));
    assert_eq!(grant(&client, "a", &["b"]).await.unwrap().1.access_key_id, "");
}

#[tokio::test]
async fn a_service_account_gets_no_keys() {
    let (driver, client) = start(Abilities { protocols: vec![Protocol::Gcs], ..Abilities::default() });
    client.create("b").await.unwrap();
    let mut request = request("a", wire::object_protocol::Type::Gcs, &["b"]);
    let by_account = wire::authentication_type::Type::ServiceAccount;
    request.authentication_type = Some(wire::AuthenticationType { r#type: by_account.into() });
    request.service_account_name = "robot".to_owned();
    let answer = client.provisioner.clone().driver_grant_bucket_access(request).await.unwrap().into_inner();
    let gcs = answer.credentials.unwrap().gcs.unwrap();
    assert_eq!((gcs.access_id.as_str(), gcs.access_secret.as_str()), ("", ""));
    assert!(!gcs.private_key_name.is_empty() && !gcs.service_account.is_empty());
    assert!(driver.accounts()[0].keys.is_empty());
}

#[tokio::test]
async fn no_secret_is_in_ledger_or_account_when_printed() {
    let (driver, client) = start(Abilities::default());
    client.create("b").await.unwrap();
    let (_, key) = grant(&client, "a", &["b"]).await.unwrap();
    let printed = format!("{:?} {} {:?}", driver.accounts(), driver.ledger(), driver.ledger());
    assert!(printed.contains(&key.access_key_id));
    assert!(!printed.contains(&key.access_secret_key));
}

#[tokio::test]
async fn every_credential_is_remembered_and_has_the_canary_in_it() {
    let (driver, client) = start(Abilities { keys: Keys::Rotating, ..Abilities::default() });
    client.create("b").await.unwrap();
    driver.rule(On::grant().nth(2), Step::do_then_cut());
    let (_, first) = grant(&client, "a", &["b"]).await.unwrap();
    grant(&client, "a", &["b"]).await.unwrap_err();
    let (_, last) = grant(&client, "a", &["b"]).await.unwrap();
    let handed_out = driver.handed_out();
    for key in [&first, &last] {
        assert!(handed_out.contains(&key.access_key_id) && handed_out.contains(&key.access_secret_key));
    }
    assert!(handed_out.iter().all(|secret| secret.contains(CANARY)), "{handed_out:?}");
    assert!(driver.secret_works(&last.access_secret_key) && !driver.secret_works(&first.access_secret_key));
}

#[tokio::test]
async fn an_edited_answer_is_what_the_client_gets_and_what_is_remembered() {
    let (driver, client) = start(Abilities::default());
    client.create("b").await.unwrap();
    driver.rule(
        On::grant(),
        Step::edited(|answer| {
            answer.credentials.as_mut().unwrap().s3.as_mut().unwrap().access_secret_key = "junk".to_owned();
        }),
    );
    assert_eq!(grant(&client, "a", &["b"]).await.unwrap().1.access_secret_key, "junk");
    assert!(driver.handed_out().contains(&"junk".to_owned()));
}

#[tokio::test]
async fn accounts_that_should_not_be_there_are_reported_as_i1() {
    let (driver, client) = start(Abilities::default());
    client.create("b").await.unwrap();
    let (id, _) = grant(&client, "a", &["b"]).await.unwrap();
    driver.wait_grants(&["a"]).await.unwrap();
    let violation = driver.grants_exactly(&[]).unwrap_err();
    assert_eq!(violation.invariant, "I1");
    assert!(driver.lose_account(&id) && !driver.lose_account(&id));
    driver.grants_exactly(&[]).unwrap();
    assert!(driver.account("a").is_none());
}
