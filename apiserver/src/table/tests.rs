use super::*;
use crate::schema::Catalogue;
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new().unwrap());

fn shown(group: &str, version: &str, plural: &str, object: &Value) -> (Vec<String>, Value) {
    let kind = CATALOGUE.find(group, version, plural).unwrap();
    let now = "2026-01-02T03:05:00Z".parse().unwrap();
    let table = table(kind, std::slice::from_ref(object), &json!({}), Include::Metadata, true, now);
    let names = table["columnDefinitions"].as_array().unwrap().iter();
    let names = names.map(|column| column["name"].as_str().unwrap().to_owned()).collect();
    (names, table["rows"][0]["cells"].clone())
}

#[test]
fn a_defined_kind_has_the_columns_that_its_definition_names() {
    let bucket = json!({
        "metadata": { "name": "b", "creationTimestamp": "2026-01-02T03:04:05Z" },
        "spec": { "driverName": "d", "deletionPolicy": "Delete", "bucketClaimRef": { "name": "c" } },
        "status": { "readyToUse": true }
    });
    let (columns, cells) = shown("objectstorage.k8s.io", "v1alpha2", "buckets", &bucket);
    assert_eq!(columns, ["Name", "Driver", "Policy", "Ready", "Claim-Namespace", "Claim", "ID", "Age"]);
    assert_eq!(cells, json!(["b", "d", "Delete", true, null, "c", null, "55s"]));
}

#[test]
fn a_secret_shows_how_many_entries_it_has_and_not_what_they_are() {
    let secret =
        json!({ "metadata": { "name": "s" }, "type": "Opaque", "data": { "a": "Yg==", "c": "ZA==" } });
    let (columns, cells) = shown("", "v1", "secrets", &secret);
    assert_eq!(columns, ["Name", "Type", "Data", "Age"]);
    assert_eq!(cells, json!(["s", "Opaque", 2, "<unknown>"]));
}

#[test]
fn an_event_looks_the_same_from_both_groups() {
    let core = json!({
        "metadata": { "name": "e" }, "type": "Warning", "reason": "Failed", "message": " it failed\n",
        "involvedObject": { "kind": "Bucket", "name": "b" }, "source": {}, "eventTime": "2026-01-02T03:04:00.000000Z",
        "reportingComponent": "us", "reportingInstance": "pod",
        "series": { "count": 3, "lastObservedTime": "2026-01-02T03:04:30.000000Z" }
    });
    let other = json!({
        "metadata": { "name": "e" }, "type": "Warning", "reason": "Failed", "note": " it failed\n",
        "regarding": { "kind": "Bucket", "name": "b" }, "eventTime": "2026-01-02T03:04:00.000000Z",
        "reportingController": "us", "reportingInstance": "pod",
        "series": { "count": 3, "lastObservedTime": "2026-01-02T03:04:30.000000Z" }
    });
    let (columns, cells) = shown("", "v1", "events", &core);
    assert_eq!(columns.len(), 10);
    assert_eq!(
        cells,
        json!(["30s", "Warning", "Failed", "bucket/b", "", "us, pod", "it failed", "60s", 3, "e"])
    );
    assert_eq!(shown("events.k8s.io", "v1", "events", &other), (columns, cells));
}

#[test]
fn a_row_has_as_much_of_the_object_as_was_asked_for() {
    let kind = CATALOGUE.find("", "v1", "secrets").unwrap();
    let secret = json!({ "metadata": { "name": "s" }, "data": { "a": "Yg==" } });
    let object = |include| {
        let objects = std::slice::from_ref(&secret);
        table(kind, objects, &json!({}), include, false, Timestamp::UNIX_EPOCH)["rows"][0]["object"].clone()
    };
    assert_eq!(object(Include::None), Value::Null);
    assert_eq!(object(Include::Object), secret);
    assert_eq!(
        object(Include::Metadata),
        json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": { "name": "s" } })
    );
}
