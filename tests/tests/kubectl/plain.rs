//! Everyday commands.

use crate::same_with_both;
use crate::script::Step::{self, Feed, Finish, Run, Start, Stop, Watch};

/// A Bucket with a deletion policy.
macro_rules! bucket {
    ($policy:literal) => {
        concat!(
            "
apiVersion: objectstorage.k8s.io/v1alpha2
kind: Bucket
metadata:
  name: {p}-b
  labels:
    run: {p}
spec:
  driverName: sample.objectstorage.local
  deletionPolicy: ",
            $policy,
            "
  protocols: [S3]
  bucketClaimRef:
    name: example
    namespace: default
    uid: 5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5b
"
        )
    };
}

const BUCKET: &str = bucket!("Delete");
const RETAINED: &str = bucket!("Retain");

const UNKNOWN_FIELD: &str = "
apiVersion: objectstorage.k8s.io/v1alpha2
kind: Bucket
metadata:
  name: {p}-wrong
spec:
  driverName: sample.objectstorage.local
  deletionPolicy: Delete
  colour: red
  bucketClaimRef: { name: example, namespace: default }
";

const INVALID: &str = "
apiVersion: objectstorage.k8s.io/v1alpha2
kind: Bucket
metadata:
  name: {p}-wrong
spec:
  driverName: sample.objectstorage.local
  deletionPolicy: Keep
  bucketClaimRef: { name: example, namespace: default }
";

/// The sidecar's part: the bucket is ready.
const READY: &[&str] = &[
    "patch",
    "bucket",
    "{p}-b",
    "--subresource=status",
    "--type=merge",
    "-p",
    r#"{"status":{"readyToUse":true,"bucketID":"id-1","protocols":["S3"],"bucketInfo":{"COSI_S3_BUCKET_ID":"id-1"}}}"#,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_comes_is_looked_at_and_goes() {
    let script: &[Step] = &[
        Feed(BUCKET, &["apply", "-f", "-"]),
        Feed(BUCKET, &["apply", "-f", "-"]),
        Run(&["get", "buckets", "-l", "run={p}"]),
        Start(
            "watch=true",
            &["wait", "bucket/{p}-b", "--for=jsonpath={.status.readyToUse}=true", "--timeout=30s"],
        ),
        Run(READY),
        Finish,
        Run(&["get", "buckets", "-l", "run={p}"]),
        Run(&["get", "buckets", "-l", "run={p}", "-o", "wide"]),
        Run(&["get", "buckets", "-l", "run={p}", "-o", "name"]),
        Run(&["get", "buckets", "-l", "run={p}", "-o", "yaml"]),
        Run(&["get", "bucket", "{p}-b", "-o", "json"]),
        Run(&["get", "bucket", "{p}-b", "-o", "jsonpath={.status.bucketID} {.spec.protocols}"]),
        Run(&[
            "get",
            "bucket",
            "{p}-b",
            "-o",
            "custom-columns=ID:.status.bucketID,CLAIM:.spec.bucketClaimRef.name",
        ]),
        Run(&["get", "bucket", "{p}-b", "-o", "go-template={{.spec.driverName}}"]),
        Run(&["get", "bucket", "{p}-b", "--no-headers"]),
        Run(&["get", "bucket", "{p}-b", "--show-labels"]),
        Run(&["get", "buckets", "--field-selector", "metadata.name={p}-b"]),
        Run(&["get", "buckets", "--field-selector", "spec.driverName=a"]),
        Run(&["get", "bucket", "{p}-b", "-L", "run"]),
        Run(&["describe", "bucket", "{p}-b"]),
        Start("watch=true", &["wait", "bucket/{p}-b", "--for=delete", "--timeout=30s"]),
        Run(&["delete", "bucket", "{p}-b"]),
        Finish,
        Run(&["get", "buckets", "-l", "run={p}"]),
        Run(&["get", "bucket", "{p}-b"]),
        Run(&["delete", "bucket", "{p}-b"]),
        Run(&["delete", "bucket", "{p}-b", "--ignore-not-found"]),
        Run(&["wait", "bucket/{p}-b", "--for=delete"]),
        Run(&["wait", "bucket/{p}-b", "--for=condition=Ready", "--timeout=1s"]),
    ];
    let Some(ours) = same_with_both("bucket", script).await else { return };
    assert_eq!(ours.of("apply").stdout, "bucket.objectstorage.k8s.io/PREFIX-b created\n");
    assert_eq!(ours.of("wait bucket").stdout, "bucket.objectstorage.k8s.io/PREFIX-b condition met\n");
    assert!(ours.of("describe").stdout.contains("Bucket ID:  id-1"), "{}", ours.of("describe").stdout);
    assert_eq!(ours.of("delete").stdout, "bucket.objectstorage.k8s.io \"PREFIX-b\" deleted\n");
}

/// Created, applied, annotated and labelled.
const WRITTEN: &[Step] = &[
    Feed(BUCKET, &["create", "-f", "-", "--dry-run=server"]),
    Feed(BUCKET, &["create", "-f", "-"]),
    Feed(BUCKET, &["create", "-f", "-"]),
    Feed(RETAINED, &["apply", "-f", "-"]),
    Feed(BUCKET, &["apply", "-f", "-", "--dry-run=server"]),
    Feed(BUCKET, &["apply", "-f", "-"]),
    Feed(UNKNOWN_FIELD, &["apply", "-f", "-"]),
    Feed(UNKNOWN_FIELD, &["apply", "-f", "-", "--validate=warn", "--dry-run=server"]),
    Feed(INVALID, &["apply", "-f", "-"]),
    Feed(INVALID, &["create", "-f", "-"]),
    Run(&["annotate", "bucket", "{p}-b", "note=one"]),
    Run(&["annotate", "bucket", "{p}-b", "note=two"]),
    Run(&["annotate", "bucket", "{p}-b", "note=two", "--overwrite"]),
    Run(&["annotate", "bucket", "{p}-b", "note-"]),
    Run(&["label", "bucket", "{p}-b", "colour=red"]),
    Run(&["label", "bucket", "{p}-b", "colour=bad value"]),
    Run(&["label", "buckets", "-l", "run={p}", "colour-"]),
];

/// All sorts of patch.
const PATCHED: &[Step] = &[
    Run(READY),
    Run(READY),
    Run(&["patch", "bucket", "{p}-b", "--type=merge", "-p", r#"{"spec":{"deletionPolicy":"Retain"}}"#]),
    Run(&["patch", "bucket", "{p}-b", "--type=merge", "-p", r#"{"spec":{"driverName":"other.example"}}"#]),
    Run(&[
        "patch",
        "bucket",
        "{p}-b",
        "--type=json",
        "-p",
        r#"[{"op":"test","path":"/spec/deletionPolicy","value":"Retain"},{"op":"replace","path":"/spec/deletionPolicy","value":"Delete"}]"#,
    ]),
    Run(&[
        "patch",
        "bucket",
        "{p}-b",
        "--type=json",
        "-p",
        r#"[{"op":"test","path":"/spec/deletionPolicy","value":"Retain"}]"#,
    ]),
    Run(&["patch", "bucket", "{p}-b", "--type=strategic", "-p", r#"{"spec":{"deletionPolicy":"Retain"}}"#]),
    Run(&["patch", "bucket", "{p}-b", "--type=merge", "-p", "nonsense"]),
    Run(&[
        "patch",
        "bucket",
        "{p}-b",
        "--subresource=status",
        "--type=merge",
        "-p",
        r#"{"status":{"bucketID":null}}"#,
    ]),
];

/// Who set what. One by one, for their order depends on which of them fall into the same second.
const OWNED: &[Step] = &[
    Run(&[
        "get",
        "bucket",
        "{p}-b",
        "-o",
        "jsonpath={.metadata.managedFields[?(@.manager=='kubectl-create')].fieldsV1}",
    ]),
    Run(&[
        "get",
        "bucket",
        "{p}-b",
        "-o",
        "jsonpath={.metadata.managedFields[?(@.manager=='kubectl-client-side-apply')].fieldsV1}",
    ]),
    Run(&[
        "get",
        "bucket",
        "{p}-b",
        "-o",
        "jsonpath={.metadata.managedFields[?(@.subresource=='status')].fieldsV1}",
    ]),
];

/// Replaced, and deleted while a finalizer stays.
const DELETED: &[Step] = &[
    Feed(RETAINED, &["replace", "-f", "-"]),
    Run(&["get", "bucket", "{p}-b", "-o", "yaml"]),
    Run(&["delete", "bucket", "{p}-b", "--dry-run=server"]),
    Run(&[
        "patch",
        "bucket",
        "{p}-b",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":["example.com/wait"]}}"#,
    ]),
    Run(&["delete", "bucket", "{p}-b", "--wait=false"]),
    Run(&["get", "bucket", "{p}-b", "-o", "yaml"]),
    Run(&["describe", "bucket", "{p}-b"]),
    Run(&[
        "patch",
        "bucket",
        "{p}-b",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":["example.com/wait","example.com/more"]}}"#,
    ]),
    Start("watch=true", &["delete", "bucket", "{p}-b"]),
    Run(&[
        "patch",
        "bucket",
        "{p}-b",
        "--type=json",
        "-p",
        r#"[{"op":"remove","path":"/metadata/finalizers"}]"#,
    ]),
    Finish,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_is_changed_in_every_way() {
    let script = [WRITTEN, PATCHED, OWNED, DELETED].concat();
    let Some(ours) = same_with_both("changes", &script).await else { return };
    assert!(ours.of("apply -f - --validate").stderr.contains("unknown field \"spec.colour\""));
    assert!(ours.of("--type=strategic").stderr.contains("application/strategic-merge-patch+json"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_is_applied_on_the_servers_side() {
    let script: &[Step] = &[
        Feed(BUCKET, &["apply", "-f", "-", "--server-side", "--dry-run=server"]),
        Feed(BUCKET, &["apply", "-f", "-", "--server-side"]),
        Feed(BUCKET, &["apply", "-f", "-", "--server-side"]),
        Run(&["get", "bucket", "{p}-b", "-o", "yaml", "--show-managed-fields"]),
        Feed(RETAINED, &["apply", "-f", "-", "--server-side", "--field-manager=other"]),
        Feed(RETAINED, &["apply", "-f", "-", "--server-side", "--field-manager=other", "--force-conflicts"]),
        Run(&["get", "bucket", "{p}-b", "-o", "yaml", "--show-managed-fields"]),
        Feed(UNKNOWN_FIELD, &["apply", "-f", "-", "--server-side"]),
        Feed(INVALID, &["apply", "-f", "-", "--server-side"]),
        Run(&["delete", "bucket", "{p}-b"]),
        Feed(BUCKET, &["apply", "-f", "-"]),
        Feed(RETAINED, &["apply", "-f", "-", "--server-side"]),
        Run(&["get", "bucket", "{p}-b", "-o", "yaml", "--show-managed-fields"]),
        Run(&["delete", "bucket", "{p}-b"]),
    ];
    let Some(ours) = same_with_both("apply", script).await else { return };
    assert!(ours.of("--field-manager=other").stderr.contains("Apply failed with 1 conflict"));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_watched() {
    let script: &[Step] = &[
        Feed(BUCKET, &["apply", "-f", "-"]),
        Watch(&["get", "buckets", "-l", "run={p}", "-w", "--output-watch-events"], 2),
        Run(READY),
        Run(&["delete", "bucket", "{p}-b"]),
        Stop(2),
        Start("404 Not Found", &["wait", "bucket/{p}-b", "--for=create", "--timeout=30s"]),
        Feed(BUCKET, &["apply", "-f", "-"]),
        Finish,
        Watch(&["get", "bucket", "{p}-b", "-w", "-o", "name"], 1),
        Run(READY),
        Stop(1),
        Run(&["delete", "buckets", "-l", "run={p}"]),
    ];
    let Some(ours) = same_with_both("watch", script).await else { return };
    let watched = &ours.of("--output-watch-events").stdout;
    let events: Vec<_> = watched.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(events, ["EVENT", "ADDED", "MODIFIED", "DELETED"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_served_is_told_and_explained() {
    let script: &[Step] = &[
        Run(&["api-resources", "--api-group=objectstorage.k8s.io", "--sort-by=name"]),
        Run(&["api-resources", "--api-group=objectstorage.k8s.io", "-o", "wide", "--sort-by=name"]),
        Run(&["api-resources", "--api-group=coordination.k8s.io", "--sort-by=name"]),
        Run(&["explain", "bucket.spec"]),
        Run(&["explain", "bucket.spec.deletionPolicy"]),
        Run(&["explain", "bucketaccesses.status", "--recursive"]),
        Run(&["explain", "bucket.spec.nothing"]),
        Run(&["explain", "nothing"]),
        Run(&["get", "nothing"]),
        Run(&["get", "bucketclasses", "-l", "run={p}"]),
        Run(&["get", "bucketclaims", "-A", "-l", "run={p}"]),
        Run(&["get", "bucketaccesses.v1alpha2.objectstorage.k8s.io", "-A", "-l", "run={p}"]),
    ];
    let Some(ours) = same_with_both("served", script).await else { return };
    assert!(ours.of("explain bucket.spec").stdout.contains("deletionPolicy\t<string> -required-"));
}
