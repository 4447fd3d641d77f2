//! How requests that cannot be understood are answered. Clients show these texts to people.

use serde_json::json;

use crate::support::{Answer, BUCKETS, SECRETS, bucket, get, post, send, server};

const JSON: &str = "application/json";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn warnings(answer: &Answer) -> Vec<&str> {
    let told = answer.headers.get_all("warning").iter().map(|value| value.to_str().unwrap());
    told.map(|text| text.strip_prefix("299 - \"").unwrap().strip_suffix('"').unwrap()).collect()
}

#[tokio::test]
async fn whether_there_is_an_object_is_told_before_the_patch_is_read() {
    let server = server();
    for kind in [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH] {
        assert_eq!(send(&server, "PATCH", &format!("{SECRETS}/a"), kind, "{").await.code, 404, "{kind}");
    }
    // An apply makes the object, if there is a place for it.
    let nowhere = "/api/v1/namespaces/nowhere/secrets/a?fieldManager=a";
    let body =
        r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "resourceVersion": "abc"}}"#;
    assert_eq!(send(&server, "PATCH", nowhere, APPLY, body).await.code, 404);
    assert_eq!(send(&server, "PATCH", &format!("{SECRETS}/a?fieldManager=a"), APPLY, "{").await.code, 400);
    assert_eq!(get(&server, &format!("{SECRETS}/a")).await.code, 404);
}

#[tokio::test]
async fn a_broken_patch_is_told_in_the_words_of_its_form_and_of_how_it_is_checked() {
    let server = server();
    post(&server, SECRETS, &json!({ "metadata": { "name": "a" } })).await;
    let end = "unexpected end of JSON input";
    let decoding = format!("error decoding patch: {end}");
    let unsaid = "the server rejected our request due to an error in our request";
    for (kind, body, checked, unchecked) in [
        (JSON_PATCH, "[", decoding.as_str(), end),
        (
            JSON_PATCH,
            "[{\"op\": 1}]",
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
            unsaid,
        ),
        (
            JSON_PATCH,
            "{}",
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (MERGE_PATCH, "{", decoding.as_str(), "Invalid JSON Patch"),
        (MERGE_PATCH, "null", "Invalid JSON Patch", "Invalid JSON Patch"),
        (STRATEGIC_PATCH, "{", end, end),
    ] {
        for (validation, wanted) in [("Warn", checked), ("Ignore", unchecked)] {
            let path = format!("{SECRETS}/a?fieldValidation={validation}");
            let answer = send(&server, "PATCH", &path, kind, body).await;
            assert_eq!(answer.body["message"], wanted, "{kind} {body} {validation}");
        }
    }
}

#[tokio::test]
async fn odd_fields_of_a_built_in_kind_are_told_in_the_order_of_the_document() {
    let server = server();
    let body = r#"{"z": 1, "metadata": {"name": "a", "more": {"a": 1, "a": 2}, "labels": {"a": "x", "a": "y"}}, "a": 1, "z": 2}"#;
    let answer = send(&server, "POST", SECRETS, JSON, body).await;
    let wanted = [
        r#"unknown field \"z\""#,
        r#"unknown field \"metadata.more\""#,
        r#"duplicate field \"metadata.labels.a\""#,
        r#"unknown field \"a\""#,
    ];
    assert_eq!(warnings(&answer), wanted);
    let patch = r#"[{"op": "add", "path": "/metadata/labels", "value": {}, "why": "because"}]"#;
    let answer = send(&server, "PATCH", &format!("{SECRETS}/a"), JSON_PATCH, patch).await;
    assert_eq!(warnings(&answer), [r#"json patch unknown field \"[0].why\""#]);
}

#[tokio::test]
async fn an_object_of_another_version_is_refused_after_its_odd_fields_are_told() {
    let server = server();
    let mut other = bucket("a");
    other["apiVersion"] = json!("example.com/v1");
    other["metadata"]["more"] = json!(1);
    let answer = post(&server, BUCKETS, &other).await;
    assert_eq!(answer.code, 400);
    assert_eq!(warnings(&answer), [r#"unknown field \"metadata.more\""#]);
    let strict = post(&server, &format!("{BUCKETS}?fieldValidation=Strict"), &other).await;
    let wanted = r#"Bucket in version "v1" cannot be handled as a Bucket: strict decoding error: unknown field "metadata.more""#;
    assert_eq!(strict.body["message"], wanted);
    other.as_object_mut().unwrap().remove("apiVersion");
    let strict = post(&server, &format!("{BUCKETS}?fieldValidation=Strict"), &other).await;
    assert_eq!(strict.body["message"], "Object 'apiVersion' is missing in 'object has no apiVersion field'");
    other["metadata"]["labels"] = json!({ "a": 1 });
    let wanted = r#"Bucket in version "" cannot be handled as a Bucket: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"#;
    assert_eq!(post(&server, BUCKETS, &other).await.body["message"], wanted);
}

#[tokio::test]
async fn names_are_quoted_and_media_types_are_read_in_any_case() {
    let server = server();
    let answer = get(&server, &format!("{SECRETS}/a%22%00")).await;
    assert_eq!(answer.body["message"], r#"secrets "a\"\x00" not found"#);
    for (kind, code) in [("APPLICATION/JSON", 201), (";;", 415), ("application/json;;", 409)] {
        let answer = send(&server, "POST", SECRETS, kind, r#"{"metadata": {"name": "a"}}"#).await;
        assert_eq!(answer.code, code, "{kind}");
    }
}

#[tokio::test]
async fn a_patch_is_told_what_does_not_fit_as_it_is_found() {
    let server = server();
    post(&server, SECRETS, &json!({ "metadata": { "name": "a" } })).await;
    let path = format!("{SECRETS}/a?fieldManager=a");
    let answer = send(&server, "PATCH", &path, STRATEGIC_PATCH, r#"{"apiVersion": 0}"#).await;
    let message = answer.body["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("cannot convert int64 to string"), "{message}");
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a?fieldManager=a";
    for (time, wanted) in [
        ("[]", ".spec.renewTime: expected any scalar, got &{[]}"),
        ("1", "json: cannot unmarshal number into Go value of type string"),
    ] {
        let body = format!(
            r#"{{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {{"name": "a"}}, "spec": {{"renewTime": {time}}}}}"#
        );
        let answer = send(&server, "PATCH", leases, APPLY, &body).await;
        let message = answer.body["message"].as_str().unwrap().to_owned();
        assert!(message.ends_with(wanted), "{message}");
    }
}
