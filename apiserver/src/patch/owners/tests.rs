#![allow(clippy::needless_pass_by_value, reason = "specs are written where they are used")]

use super::*;
use crate::schema::{Catalogue, Kind};
use jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new().unwrap());

fn kind() -> &'static Kind {
    CATALOGUE.find("objectstorage.k8s.io", "v1alpha2", "buckets").unwrap()
}

fn writer<'a>(manager: &'a str, subresource: &'a str, second: i64) -> Writer<'a> {
    Writer { manager, subresource, now: Timestamp::from_second(second).unwrap() }
}

fn bucket(spec: &Value) -> Value {
    json!({
        "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket", "metadata": { "name": "b" }, "spec": spec
    })
}

fn applied(live: Option<&Value>, spec: Value, manager: &str, force: bool) -> Result<Value, ApplyError> {
    let object = bucket(&spec);
    apply(kind(), live, Application { object: &object, force }, writer(manager, "", 1))
}

fn owners(object: &Value) -> Vec<(String, String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let one = |entry: &Value| {
        let who = format!("{}{}", text(entry, "manager"), text(entry, "subresource"));
        (who, text(entry, "operation"), entry["fieldsV1"].clone())
    };
    entries.iter().map(one).collect()
}

#[test]
fn a_create_owns_all_that_it_sets() {
    let mut created = bucket(&json!({ "parameters": { "a": "1" }, "protocols": ["S3"] }));
    created["metadata"]["labels"] = json!({ "l": "1" });
    created["metadata"]["uid"] = json!("u");
    track(kind(), None, &mut created, writer("kubectl-create", "", 0));
    let entry = &created["metadata"]["managedFields"][0];
    assert_eq!(entry["apiVersion"], "objectstorage.k8s.io/v1alpha2");
    assert_eq!(entry["fieldsType"], "FieldsV1");
    assert_eq!(entry["time"], "1970-01-01T00:00:00Z");
    assert_eq!(
        owners(&created),
        [(
            "kubectl-create".to_owned(),
            "Update".to_owned(),
            json!({
                "f:metadata": { "f:labels": { ".": {}, "f:l": {} } },
                "f:spec": {
                    ".": {}, "f:parameters": { ".": {}, "f:a": {} }, "f:protocols": { ".": {}, "v:\"S3\"": {} }
                }
            })
        )]
    );
}

#[test]
fn what_every_object_of_a_kind_has_belongs_to_nobody() {
    let kind = CATALOGUE.find("", "v1", "namespaces").unwrap();
    let created = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "labels": { "a": "1" } } });
    let mut created = kind.read(created).unwrap().object;
    track(kind, None, &mut created, writer("one", "", 0));
    let fields = json!({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } });
    assert_eq!(owners(&created), [("one".to_owned(), "Update".to_owned(), fields)]);
}

#[test]
fn an_update_takes_what_it_changes() {
    let mut old = bucket(&json!({ "parameters": { "a": "1", "b": "1", "c": "1" } }));
    track(kind(), None, &mut old, writer("one", "", 0));
    let mut new = old.clone();
    new["spec"]["parameters"] = json!({ "a": "2", "b": "1" });
    track(kind(), Some(&old), &mut new, writer("two", "", 1));
    let owned = |fields: Value| json!({ "f:spec": { "f:parameters": fields } });
    assert_eq!(
        owners(&new),
        [
            (
                "one".to_owned(),
                "Update".to_owned(),
                json!({
                    "f:spec": { ".": {}, "f:parameters": { ".": {}, "f:b": {} } }
                })
            ),
            ("two".to_owned(), "Update".to_owned(), owned(json!({ "f:a": {} }))),
        ]
    );
}

#[test]
fn a_write_that_changes_nothing_changes_no_owner_and_no_time() {
    let mut old = bucket(&json!({ "driverName": "d" }));
    track(kind(), None, &mut old, writer("one", "", 0));
    let mut new = old.clone();
    track(kind(), Some(&old), &mut new, writer("two", "", 9));
    assert_eq!(new, old);
    let again = applied(Some(&old), json!({ "driverName": "d" }), "two", false).unwrap();
    let repeated = applied(Some(&again), json!({ "driverName": "d" }), "two", false).unwrap();
    assert_eq!(repeated, again);
}

#[test]
fn the_status_has_owners_of_its_own() {
    let mut old = bucket(&json!({ "driverName": "d" }));
    track(kind(), None, &mut old, writer("one", "", 0));
    let mut new = old.clone();
    new["status"] = json!({ "readyToUse": true });
    new["spec"]["driverName"] = json!("out of reach");
    track(kind(), Some(&old), &mut new, writer("one", "status", 1));
    let found = owners(&new);
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[1],
        ("onestatus".to_owned(), "Update".to_owned(), json!({ "f:status": { ".": {}, "f:readyToUse": {} } }))
    );
}

#[test]
fn owners_can_be_forgotten() {
    let mut old = bucket(&json!({ "driverName": "d" }));
    track(kind(), None, &mut old, writer("one", "", 0));
    let mut new = old.clone();
    new["metadata"]["managedFields"] = json!([{}]);
    track(kind(), Some(&old), &mut new, writer("one", "", 1));
    assert_eq!(owners(&new), []);
    let mut later = new.clone();
    later["spec"]["deletionPolicy"] = json!("Retain");
    track(kind(), Some(&new), &mut later, writer("one", "", 2));
    assert_eq!(owners(&later), [], "owners are counted only from the first apply on");
    let after = applied(Some(&later), json!({ "driverName": "d" }), "two", false).unwrap();
    let names: Vec<_> = owners(&after).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["two", "before-first-apply"]);
}

#[test]
fn owners_are_forgotten_where_a_value_has_another_type_than_the_schema_says() {
    let mut old = bucket(&json!({ "driverName": "d" }));
    track(kind(), None, &mut old, writer("one", "", 0));
    let mut new = old.clone();
    new["status"] = json!({ "readyToUse": "yes" });
    track(kind(), Some(&old), &mut new, writer("one", "", 1));
    assert_eq!(owners(&new), []);
}

#[test]
fn null_says_nothing_of_items_that_have_owners_of_their_own() {
    let mut live = bucket(&json!({ "driverName": "d", "parameters": { "a": "1" } }));
    live["metadata"]["finalizers"] = json!(["x/a"]);
    track(kind(), None, &mut live, writer("one", "", 0));
    let mut wanted = bucket(&json!({ "parameters": null }));
    wanted["metadata"]["finalizers"] = json!(null);
    let application = Application { object: &wanted, force: false };
    let after = apply(kind(), Some(&live), application, writer("two", "", 1)).unwrap();
    assert_eq!(after["metadata"]["finalizers"], json!(["x/a"]));
    assert_eq!(after["spec"]["parameters"], json!({ "a": "1" }));
}

#[test]
fn more_than_ten_plain_writers_are_joined() {
    let mut object = bucket(&json!({ "parameters": { "p": "0" } }));
    track(kind(), None, &mut object, writer("first", "", 0));
    for count in 1..15_i64 {
        let old = object.clone();
        object["spec"]["parameters"][format!("p{count}")] = json!("1");
        track(kind(), Some(&old), &mut object, writer(&format!("writer-{count:02}"), "", count));
    }
    let names: Vec<_> = owners(&object).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), 10);
    assert_eq!(names[0], "ancient-changes");
}

#[test]
fn what_is_applied_no_more_is_taken_out() {
    let first = applied(None, json!({ "driverName": "d", "parameters": { "a": "1", "b": "1" } }), "m", false);
    let second =
        applied(Some(&first.unwrap()), json!({ "driverName": "d", "parameters": { "a": "1" } }), "m", false);
    assert_eq!(second.as_ref().unwrap()["spec"], json!({ "driverName": "d", "parameters": { "a": "1" } }));
    let third = applied(Some(&second.unwrap()), json!({ "driverName": "d" }), "m", false).unwrap();
    assert_eq!(third["spec"], json!({ "driverName": "d" }));
    assert_eq!(
        owners(&third),
        [("m".to_owned(), "Apply".to_owned(), json!({ "f:spec": { "f:driverName": {} } }))]
    );
}

#[test]
fn what_others_own_too_stays_when_one_applies_it_no_more() {
    let first =
        applied(None, json!({ "driverName": "d", "deletionPolicy": "Delete" }), "one", false).unwrap();
    let second = applied(Some(&first), json!({ "driverName": "d" }), "two", false).unwrap();
    let third = applied(Some(&second), json!({ "deletionPolicy": "Delete" }), "one", false).unwrap();
    assert_eq!(third["spec"], json!({ "driverName": "d", "deletionPolicy": "Delete" }));
    let mut plain = third.clone();
    plain["spec"]["parameters"] = json!({ "by": "another" });
    track(kind(), Some(&third), &mut plain, writer("plain", "", 5));
    let last = applied(Some(&plain), json!({}), "one", false).unwrap();
    assert_eq!(last["spec"], json!({ "driverName": "d", "parameters": { "by": "another" } }));
}

#[test]
fn what_another_owns_is_a_conflict_unless_it_is_the_same_or_forced() {
    let mut live = bucket(&json!({ "driverName": "d", "deletionPolicy": "Delete" }));
    track(kind(), None, &mut live, writer("creator", "", 0));
    let live = applied(Some(&live), json!({ "driverName": "d" }), "one", false).unwrap();

    let changed = json!({ "driverName": "e", "deletionPolicy": "Retain" });
    let error = applied(Some(&live), changed.clone(), "two", false).unwrap_err();
    let ApplyError::Conflicts(conflicts) = &error else { panic!("{error:?}") };
    let told: Vec<_> =
        conflicts.iter().map(|conflict| (conflict.message(), conflict.field.as_str())).collect();
    let creator = "conflict with \"creator\" using objectstorage.k8s.io/v1alpha2".to_owned();
    assert_eq!(
        told,
        [
            (creator.clone(), ".spec.deletionPolicy"),
            (creator, ".spec.driverName"),
            ("conflict with \"one\"".to_owned(), ".spec.driverName")
        ]
    );
    assert!(error.to_string().starts_with("Apply failed with 3 conflicts: conflicts with \"creator\" using"));

    let forced = applied(Some(&live), changed, "two", true).unwrap();
    assert_eq!(forced["spec"], json!({ "driverName": "e", "deletionPolicy": "Retain" }));
    let found = owners(&forced);
    assert!(
        found
            .iter()
            .all(|(name, _, fields)| { fields.to_string().contains("driverName") == (name == "two") }),
        "{found:?}"
    );
}

#[test]
fn kubectl_takes_over_what_it_applied_from_its_own_side() {
    let spec = json!({ "driverName": "d", "deletionPolicy": "Delete" });
    let mut live = bucket(&spec);
    let annotation = json!({ "kubectl.kubernetes.io/last-applied-configuration": bucket(&spec).to_string() });
    live["metadata"]["annotations"] = annotation;
    track(kind(), None, &mut live, writer("kubectl-client-side-apply", "", 0));
    let changed = json!({ "driverName": "d", "deletionPolicy": "Retain" });
    assert!(applied(Some(&live), changed.clone(), "other", false).is_err());
    let after = applied(Some(&live), changed, "kubectl", false).unwrap();
    assert_eq!(after["spec"]["deletionPolicy"], "Retain");
    let last = &after["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
    let last: Value = serde_json::from_str(last.as_str().unwrap()).unwrap();
    assert_eq!(last["spec"]["deletionPolicy"], "Retain", "going back to applying there changes nothing");
}

#[test]
fn items_with_keys_are_merged_and_keep_their_order() {
    let kind = CATALOGUE.find("", "v1", "secrets").unwrap();
    let secret = |finalizers: Value| {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": "s", "namespace": "n", "finalizers": finalizers }
        })
    };
    let mut live = secret(json!(["x/a", "x/b", "x/c"]));
    track(kind, None, &mut live, writer("one", "", 0));
    let wanted = secret(json!(["x/d", "x/b"]));
    let application = Application { object: &wanted, force: false };
    let after = apply(kind, Some(&live), application, writer("two", "", 1)).unwrap();
    assert_eq!(after["metadata"]["finalizers"], json!(["x/a", "x/d", "x/b", "x/c"]));
    let fewer = secret(json!(["x/b"]));
    let application = Application { object: &fewer, force: false };
    let after = apply(kind, Some(&after), application, writer("two", "", 2)).unwrap();
    assert_eq!(after["metadata"]["finalizers"], json!(["x/a", "x/b", "x/c"]));
}

#[rstest]
#[case(json!({ "kind": "Secret" }), "invalid object type: /, Kind=Secret")]
#[case(json!({ "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
    "metadata": { "managedFields": [] } }), "metadata.managedFields must be nil")]
#[case(json!({ "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
    "metadata": { "name": "b" }, "spec": { "colour": 1 } }),
    "failed to create typed patch object (/b; objectstorage.k8s.io/v1alpha2, Kind=Bucket): .spec.colour: field not declared in schema")]
#[case(json!({ "apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "Bucket",
    "metadata": { "name": "b" }, "spec": { "protocols": ["S3", "S3"] } }),
    "failed to create typed patch object (/b; objectstorage.k8s.io/v1alpha2, Kind=Bucket): .spec.protocols: duplicate entries for key [=\"S3\"]")]
fn an_object_that_does_not_fit_is_not_applied(#[case] object: Value, #[case] message: &str) {
    let application = Application { object: &object, force: true };
    let error = apply(kind(), None, application, writer("m", "", 0)).unwrap_err();
    assert_eq!(error.to_string(), message);
}
