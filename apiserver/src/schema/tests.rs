use super::*;
use rstest::rstest;
use serde_json::{Value, json};
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new().unwrap());

fn kind(plural: &str) -> &'static Kind {
    CATALOGUE.kinds().iter().find(|kind| kind.plural == plural && kind.group != "events.k8s.io").unwrap()
}

fn bucket() -> Value {
    json!({
        "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket", "metadata": { "name": "b" },
        "spec": {
            "driverName": "d.example", "deletionPolicy": "Delete",
            "bucketClaimRef": { "name": "claim", "namespace": "ns" }
        }
    })
}

fn access() -> Value {
    let claim = |name: &str| json!({ "bucketClaimName": name, "accessMode": "ReadWrite", "accessSecretName": format!("{name}-secret") });
    json!({
        "metadata": { "name": "a", "namespace": "ns" },
        "spec": { "bucketAccessClassName": "c", "protocol": "S3", "bucketClaims": [claim("one"), claim("two")] }
    })
}

/// The object with the value put at the pointer; null takes the field out.
fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = object.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(fields), Value::Null) => drop(fields.remove(name)),
        (Value::Array(items), value) => items[name.parse::<usize>().unwrap()] = value,
        (parent, value) => parent[name] = value,
    }
    object
}

fn faults(plural: &str, new: &Value, old: Option<&Value>, part: Part) -> Vec<(String, String)> {
    kind(plural)
        .validate(new, old, part, Vec::new())
        .into_iter()
        .map(|cause| (format!("{} {}", cause.reason.as_str(), cause.field), cause.message))
        .collect()
}

#[test]
fn all_kinds_are_known_by_group_version_and_plural() {
    for (group, version, plural) in [
        ("", "v1", "secrets"),
        ("", "v1", "events"),
        ("", "v1", "namespaces"),
        ("events.k8s.io", "v1", "events"),
        ("coordination.k8s.io", "v1", "leases"),
        ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
        ("objectstorage.k8s.io", "v1alpha2", "buckets"),
        ("objectstorage.k8s.io", "v1alpha2", "bucketclaims"),
        ("objectstorage.k8s.io", "v1alpha2", "bucketclasses"),
        ("objectstorage.k8s.io", "v1alpha2", "bucketaccesses"),
        ("objectstorage.k8s.io", "v1alpha2", "bucketaccessclasses"),
    ] {
        assert!(CATALOGUE.find(group, version, plural).is_some(), "{group}/{version} {plural}");
    }
    assert!(CATALOGUE.find("", "v1", "pods").is_none());
    assert_eq!(CATALOGUE.kinds().len(), 11);
}

#[test]
fn a_good_object_has_no_faults() {
    assert_eq!(faults("buckets", &bucket(), None, Part::Main), []);
    assert_eq!(faults("bucketaccesses", &access(), None, Part::Main), []);
}

const SKIPPED: &str = "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

#[rstest]
#[case("/spec", json!(null), "FieldValueRequired spec", "Required value", true)]
#[case("/spec/driverName", json!(null), "FieldValueRequired spec.driverName", "Required value", true)]
#[case("/spec/driverName", json!(5), "FieldValueTypeInvalid spec.driverName",
    r#"Invalid value: "integer": spec.driverName in body must be of type string: "integer""#, true)]
#[case("/spec/driverName", json!("-"), "FieldValueInvalid spec.driverName",
    r#"Invalid value: "-": spec.driverName in body should match '^[a-zA-Z0-9]([a-zA-Z0-9\-\.]{0,61}[a-zA-Z0-9])?$'"#,
    false)]
#[case("/spec/driverName", json!(""), "FieldValueInvalid spec.driverName",
    r#"Invalid value: "": spec.driverName in body should be at least 1 chars long"#, false)]
#[case("/spec/driverName", json!("d".repeat(64)), "FieldValueTooLong spec.driverName",
    "Too long: may not be more than 63 bytes", true)]
#[case("/spec/deletionPolicy", json!("Keep"), "FieldValueNotSupported spec.deletionPolicy",
    r#"Unsupported value: "Keep": supported values: "Retain", "Delete""#, true)]
#[case("/spec/protocols", json!([]), "FieldValueInvalid spec.protocols",
    "Invalid value: 0: spec.protocols in body should have at least 1 items", false)]
#[case("/spec/protocols", json!(["S3", "S3"]), "FieldValueDuplicate spec.protocols[1]",
    r#"Duplicate value: "S3""#, false)]
#[case("/spec/protocols", json!(["S3", "GCS", "Azure", "S3"]), "FieldValueTooMany spec.protocols",
    "Too many: 4: must have at most 3 items", true)]
#[case("/spec/parameters", json!({}), "FieldValueInvalid spec.parameters",
    "Invalid value: 0: spec.parameters in body should have at least 1 properties", false)]
#[case("/spec/parameters", json!({ "a": 1 }), "FieldValueTypeInvalid spec.parameters.a",
    r#"Invalid value: "integer": spec.parameters.a in body must be of type string: "integer""#, true)]
#[case("/spec/bucketClaimRef/name", json!("No"), "FieldValueInvalid spec.bucketClaimRef.name",
    r#"Invalid value: "No": must be the name of an object: lower-case letters, digits, '-' and '.'"#, false)]
fn a_fault_is_told_as_the_api_server_tells_it(
    #[case] pointer: &str,
    #[case] value: Value,
    #[case] place: &str,
    #[case] message: &str,
    #[case] blocks: bool,
) {
    let found = faults("buckets", &with(bucket(), pointer, value), None, Part::Main);
    assert!(found.contains(&(place.to_owned(), message.to_owned())), "{found:#?}");
    let skipped = ("FieldValueInvalid <nil>".to_owned(), SKIPPED.to_owned());
    assert_eq!(found.contains(&skipped), blocks, "{found:#?}");
    assert!(found.len() <= 3, "{found:#?}");
}

#[rstest]
#[case("2026-01-02T03:04:05Z", true)]
#[case("2026-01-02t03:04:05z", true)]
#[case("2026-01-02T03:04:05.123+02:00", true)]
#[case("2026-01-02T23:59:60Z", false)]
#[case("2026-01-02T24:00:00Z", false)]
#[case("2026-02-30T00:00:00Z", false)]
#[case("2026-01-02T03:04:05", false)]
#[case("2026-01-02 03:04:05Z", false)]
#[case("yesterday", false)]
#[case("", false)]
fn a_point_in_time_must_be_one(#[case] time: &str, #[case] good: bool) {
    let status = json!({ "readyToUse": false, "error": { "time": time, "message": "m" } });
    let found = faults("buckets", &with(bucket(), "/status", status), Some(&bucket()), Part::Status);
    assert_eq!(found.is_empty(), good, "{found:?}");
    if !good {
        assert_eq!(found[0].0, "FieldValueTypeInvalid status.error.time");
        assert_eq!(
            found[0].1,
            format!("Invalid value: {time:?}: error.time in body must be of type date-time: {time:?}")
        );
    }
}

#[rstest]
#[case("/spec/driverName", json!("other.example"), "spec.driverName", "driverName is immutable")]
#[case("/spec/parameters", json!({ "a": "b" }), "spec", "parameters cannot be added or removed after creation")]
#[case("/spec/bucketClaimRef/namespace", json!("other"), "spec.bucketClaimRef.namespace", "namespace is immutable")]
fn rules_compare_an_object_with_what_it_was(
    #[case] pointer: &str,
    #[case] value: Value,
    #[case] field: &str,
    #[case] message: &str,
) {
    let found = faults("buckets", &with(bucket(), pointer, value), Some(&bucket()), Part::Main);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, format!("FieldValueInvalid {field}"));
    assert!(found[0].1.ends_with(message), "{found:?}");
}

#[test]
fn faults_that_were_there_before_are_overlooked() {
    let old = with(bucket(), "/spec/bucketClaimRef/name", json!("Not a name"));
    assert_eq!(faults("buckets", &old, None, Part::Main).len(), 1);
    let new = with(old.clone(), "/spec/deletionPolicy", json!("Retain"));
    assert_eq!(faults("buckets", &new, Some(&old), Part::Main), []);
    let old = with(access(), "/spec/bucketClaims/0/accessMode", json!("Never"));
    let reordered = json!([old["spec"]["bucketClaims"][1], old["spec"]["bucketClaims"][0]]);
    let new = with(old.clone(), "/spec/bucketClaims", reordered);
    let found = faults("bucketaccesses", &new, Some(&old), Part::Main);
    assert!(found.iter().all(|(place, _)| !place.contains("accessMode")), "{found:?}");
    assert!(found.iter().any(|(_, message)| message.ends_with("bucketClaims is immutable")), "{found:?}");
}

#[test]
fn list_items_with_one_key_are_duplicates_even_if_they_differ_elsewhere() {
    let again = json!({ "bucketClaimName": "one", "accessMode": "ReadOnly", "accessSecretName": "third" });
    let twice = with(access(), "/spec/bucketClaims/1", again);
    let found = faults("bucketaccesses", &twice, None, Part::Main);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "FieldValueDuplicate spec.bucketClaims[1]");
    assert_eq!(found[0].1, r#"Duplicate value: {"bucketClaimName":"one"}"#);
}

#[test]
fn a_status_is_checked_alone_and_named_so() {
    let bad_spec = with(bucket(), "/spec/driverName", json!(5));
    let status = with(bad_spec.clone(), "/status", json!({ "bucketID": "" }));
    let found = faults("buckets", &status, Some(&bad_spec), Part::Status);
    assert_eq!(
        found,
        [
            (
                "FieldValueInvalid status.bucketID".to_owned(),
                "Invalid value: \"\": bucketID in body should be at least 1 chars long".to_owned()
            ),
            ("FieldValueRequired status.readyToUse".to_owned(), "Required value".to_owned()),
            ("FieldValueInvalid <nil>".to_owned(), SKIPPED.to_owned()),
        ]
    );
}

#[test]
fn unknown_fields_and_nulls_are_taken_out_and_the_former_told() {
    let mut given = bucket();
    given["metadata"]["colour"] = json!("red");
    given["metadata"]["creationTimestamp"] = json!(null);
    given["metadata"]["labels"] = json!({});
    given["spec"]["colour"] = json!({ "deep": 1 });
    given["spec"]["parameters"] = json!(null);
    given["spec"]["protocols"] = json!([null]);
    given["extra"] = json!(1);
    let read = kind("buckets").read(given).unwrap();
    assert_eq!(read.unknown, ["metadata.colour", "extra", "spec.colour"]);
    assert_eq!(read.object, with(bucket(), "/spec/protocols", json!([null])));
    let found = faults("buckets", &read.object, None, Part::Main);
    assert_eq!(found[0].0, "FieldValueTypeInvalid spec.protocols[0]");
    assert_eq!(
        found[0].1,
        r#"Invalid value: "null": spec.protocols[0] in body must be of type string: "null""#
    );
}

#[test]
fn reading_what_was_read_changes_nothing() {
    let event = json!({ "metadata": { "name": "e" }, "involvedObject": { "name": "b" }, "count": 0 });
    for (plural, object) in [("buckets", bucket()), ("bucketaccesses", access()), ("events", event)] {
        let once = kind(plural).read(object).unwrap();
        let twice = kind(plural).read(once.object.clone()).unwrap();
        assert_eq!(twice, Read { object: once.object, unknown: Vec::new() });
    }
}

#[test]
fn a_builtin_kind_is_written_with_the_fields_that_it_always_has() {
    let read = kind("events").read(json!({ "metadata": { "name": "e" }, "count": 0, "why": 1 })).unwrap();
    assert_eq!(
        read.object,
        json!({
            "metadata": { "name": "e" }, "involvedObject": {}, "source": {}, "firstTimestamp": null,
            "lastTimestamp": null, "eventTime": null, "reportingComponent": "", "reportingInstance": ""
        })
    );
    assert_eq!(read.unknown, ["why"]);
    let secret = kind("secrets").read(json!({ "data": { "empty": null } })).unwrap().object;
    assert_eq!(secret, json!({ "metadata": {}, "data": { "empty": "" } }));
    let lease = json!({ "spec": { "holderIdentity": "", "renewTime": "2026-01-02T03:04:05.100000+01:00" } });
    let read = kind("leases").read(lease).unwrap();
    assert_eq!(
        read.object,
        json!({ "metadata": {}, "spec": { "holderIdentity": "", "renewTime": "2026-01-02T02:04:05.100000Z" } })
    );
}

#[rstest]
#[case("secrets", json!({ "data": { "k": 5 } }),
    "json: cannot unmarshal number into Go struct field Secret.data of type []uint8")]
#[case("secrets", json!({ "data": { "k": "a*==" } }), "illegal base64 data at input byte 1")]
#[case("secrets", json!({ "data": { "k": "twice" } }), "illegal base64 data at input byte 4")]
#[case(
    "secrets",
    json!({ "metadata": { "labels": { "a": 1 }, "creationTimestamp": "soon" } }),
    r#"parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006""#
)]
#[case(
    "secrets",
    json!({ "data": { "k": "Yg" }, "metadata": { "labels": { "a": 1 } } }),
    "illegal base64 data at input byte 0"
)]
#[case("secrets", json!({ "metadata": { "labels": ["a"] } }),
    "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string")]
#[case("buckets", json!({ "metadata": { "generation": "1" } }),
    "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64")]
#[case("buckets", json!({ "metadata": "m" }), "json: cannot unmarshal string into Go value of type v1.ObjectMeta")]
#[case("leases", json!({ "spec": { "leaseTransitions": 5_000_000_000_u64 } }),
    "json: cannot unmarshal number 5000000000 into Go struct field LeaseSpec.spec.leaseTransitions of type int32")]
fn a_value_of_another_type_is_refused(#[case] plural: &str, #[case] object: Value, #[case] message: &str) {
    assert_eq!(kind(plural).read(object).unwrap_err().to_string(), message);
}
