//! Secrets against a small HTTP server in this process that plays the API server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use cosi_api::keys::s3;
use serde_json::json;
use tower::service_fn;

use super::*;

const CANARY: &str = "canary-7f3a";
const CANARY_BASE64: &str = "Y2FuYXJ5LTdmM2E=";

/// What was asked: method, path and body.
type Asked = Arc<Mutex<Vec<(String, String, Value)>>>;

/// Secrets at an API server that gives these answers, one after the other.
fn secrets(answers: impl IntoIterator<Item = (u16, Value)>) -> (Secrets, Asked) {
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
    let service = service_fn(move |request: http::Request<kube::client::Body>| {
        let (log, answers) = (Arc::clone(&log), Arc::clone(&answers));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap();
            let body = serde_json::from_slice(&body).unwrap_or_default();
            log.lock().unwrap().push((head.method.to_string(), head.uri.path().to_owned(), body));
            let (code, answer) = answers.lock().unwrap().pop_front().unwrap();
            let body = match answer {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let response = http::Response::builder().status(code);
            Ok::<_, std::convert::Infallible>(
                response.body(kube::client::Body::from(body.into_bytes())).unwrap(),
            )
        }
    });
    (Secrets::new(Client::new(service, "default"), SecretKeys::Cosi), asked)
}

fn place() -> Place {
    Place { namespace: "n".into(), name: "s".into() }
}

fn version() -> Version {
    Version { place: place(), uid: "su".into(), resource_version: "7".into() }
}

fn data() -> SecretData {
    let mut data = SecretData::default();
    data.set(s3::ACCESS_SECRET_KEY, CANARY.to_owned());
    data
}

fn owner() -> Owner {
    Owner { name: "a".into(), uid: "au".into() }
}

fn stored(metadata: &Value) -> Value {
    let mut all = json!({ "namespace": "n", "name": "s", "uid": "su", "resourceVersion": "7" });
    all.as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": all,
        "data": { s3::ACCESS_SECRET_KEY: CANARY_BASE64, s3::ACCESS_KEY_ID: "" },
    })
}

/// The API server says of this very Secret that there is none.
fn missing() -> (u16, Value) {
    (404, json!({ "reason": "NotFound", "code": 404, "details": { "name": "s", "kind": "secrets" } }))
}

fn refusal(code: u16, reason: &str) -> (u16, Value) {
    let message = format!("Secret \"s\" is invalid: data: Invalid value: {CANARY:?} {CANARY_BASE64}");
    let causes = [json!({ "reason": "FieldValueInvalid", "message": message, "field": "data" })];
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": reason, "details": { "causes": causes, "retryAfterSeconds": 3 }, "code": code,
    });
    (code, status)
}

#[tokio::test]
async fn a_new_secret_belongs_to_its_access_and_is_held() {
    let (secrets, asked) = secrets([(201, stored(&json!({})))]);
    secrets.create(&place(), &owner(), &SecretData::default()).await.unwrap();
    let (method, path, body) = asked.lock().unwrap()[0].clone();
    assert_eq!((method.as_str(), path.as_str()), ("POST", "/api/v1/namespaces/n/secrets"));
    assert_eq!(
        body,
        json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {},
            "metadata": {
                "namespace": "n", "name": "s", "finalizers": ["objectstorage.k8s.io/protection"],
                "ownerReferences": [{
                    "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketAccess", "name": "a", "uid": "au",
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
        })
    );
}

/// C31: whose a Secret is, its controller owner reference says, and nothing else.
#[tokio::test]
async fn a_secret_is_read_with_its_owner_and_with_the_keys_that_have_a_value() {
    let reference = |version: &str, kind: &str, controller: bool| json!({ "apiVersion": version, "kind": kind, "name": "a", "uid": "au", "controller": controller });
    let cases = [
        (reference("objectstorage.k8s.io/v1alpha2", "BucketAccess", true), Some(owner())),
        (reference("objectstorage.k8s.io/v1", "BucketAccess", true), Some(owner())),
        (reference("objectstorage.k8s.io/v1alpha2", "BucketAccess", false), None),
        (reference("objectstorage.k8s.io/v1alpha2", "BucketClaim", true), None),
        (reference("v1", "BucketAccess", true), None),
    ];
    for (reference, owner) in cases {
        let metadata = json!({ "ownerReferences": [reference], "finalizers": ["x/y"] });
        let (secrets, _) = secrets([(200, stored(&metadata))]);
        let view = secrets.read(&place()).await.unwrap().unwrap();
        assert_eq!(view.owner, owner);
        assert!(view.owned, "by whomever");
        assert_eq!(view.keys.iter().collect::<Vec<_>>(), [s3::ACCESS_SECRET_KEY], "the other one is empty");
        assert_eq!(
            (view.finalizer, &*view.other_finalizers, view.deleting),
            (false, &["x/y".into()][..], false)
        );
    }
}

#[tokio::test]
async fn values_and_finalizers_are_written_on_condition_of_what_was_read() {
    let (secrets, asked) = secrets([(200, stored(&json!({}))), (200, stored(&json!({})))]);
    secrets.write(&version(), &data()).await.unwrap();
    secrets.write_finalizers(&version(), &["x/y".to_owned()]).await.unwrap();
    let asked = asked.lock().unwrap();
    let names = json!({ s3::ACCESS_SECRET_KEY: CANARY_BASE64, "AWS_SECRET_ACCESS_KEY": null });
    assert_eq!(asked[0].2, json!({ "metadata": { "uid": "su", "resourceVersion": "7" }, "data": names }));
    let metadata = json!({ "uid": "su", "resourceVersion": "7", "finalizers": ["x/y"] });
    assert_eq!((asked[1].0.as_str(), &asked[1].2), ("PATCH", &json!({ "metadata": metadata })));
}

#[tokio::test]
async fn a_delete_is_conditioned_and_tells_what_is_left() {
    let deleting = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"] });
    let gone = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success" });
    let answers = [(200, stored(&deleting)), (200, gone), missing()];
    let (secrets, asked) = secrets(answers);
    assert!(secrets.delete(&version()).await.unwrap().unwrap().deleting);
    assert_eq!(secrets.delete(&version()).await, Ok(None));
    assert_eq!(secrets.delete(&version()).await, Ok(None));
    let asked = asked.lock().unwrap();
    let preconditions = json!({ "uid": "su", "resourceVersion": "7" });
    assert_eq!((asked[0].0.as_str(), &asked[0].2["preconditions"]), ("DELETE", &preconditions));
}

#[tokio::test]
async fn a_secret_goes_with_its_last_finalizer() {
    let deleting = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" });
    let (secrets, _) = secrets([(200, stored(&deleting))]);
    assert_eq!(secrets.write_finalizers(&version(), &[]).await, Ok(None));
}

#[tokio::test]
async fn a_taken_name_is_a_conflict_and_a_vanished_secret_is_said_to_be_missing() {
    let (secrets, _) = secrets([refusal(409, "AlreadyExists"), missing()]);
    assert_eq!(secrets.create(&place(), &owner(), &data()).await, Err(WriteFailure::Conflict));
    assert_eq!(secrets.write(&version(), &data()).await, Err(WriteFailure::NotFound));
}

#[tokio::test]
async fn a_404_that_is_not_about_the_secret_says_nothing_about_it() {
    let other = (404, json!({ "reason": "NotFound", "details": { "name": "other" } }));
    for answer in [other, (404, json!({ "reason": "NotFound" })), (404, json!("404 page not found"))] {
        let (secrets, _) = secrets([answer.clone(), answer]);
        for result in [secrets.read(&place()).await, secrets.delete(&version()).await] {
            assert!(matches!(result, Err(WriteFailure::Other { .. })), "{result:?}");
        }
    }
}

/// I7: an API server repeats what it refuses.
#[tokio::test]
async fn what_the_api_server_says_of_values_is_never_repeated() {
    let nonsense = format!("<html>{CANARY} {CANARY_BASE64}");
    let answers = [
        refusal(422, "Invalid"),
        refusal(400, "BadRequest"),
        refusal(403, "Forbidden"),
        refusal(500, "InternalError"),
    ]
    .into_iter()
    .chain([(502, json!(nonsense)), (200, json!(nonsense)), (200, json!({ "metadata": CANARY }))]);
    let (secrets, asked) = secrets(answers);
    for n in 0..7 {
        let failure = secrets.write(&version(), &data()).await.unwrap_err();
        let text = format!("{failure:?}");
        assert!(!text.contains(CANARY) && !text.contains(CANARY_BASE64), "{text}");
        let told = [
            "Invalid about data",
            "BadRequest about data",
            "Forbidden",
            "InternalError",
            "HTTP status 502",
            "decoded",
            "decoded",
        ][n];
        assert!(text.contains(told), "{text}");
    }
    assert_eq!(asked.lock().unwrap().len(), 7, "and nothing is tried again by itself");
}

#[tokio::test]
async fn what_the_api_server_says_of_an_empty_secret_or_of_a_read_is_told() {
    let message = "exceeded quota: secrets";
    let refusal = (403, json!({ "reason": "Forbidden", "message": message, "code": 403 }));
    let (secrets, _) = secrets([refusal.clone(), refusal]);
    let failure = WriteFailure::Forbidden { message: message.to_owned() };
    assert_eq!(secrets.create(&place(), &owner(), &SecretData::default()).await, Err(failure.clone()));
    assert_eq!(secrets.read(&place()).await, Err(failure));
}
