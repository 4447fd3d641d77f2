//! What is in namespaces: Secrets, Events, Leases, claims.

use crate::script::Step::{self, Feed, Run};
use crate::{embedded, kubectl, same_with_both, skip};

const OBJECTS: &str = "
apiVersion: v1
kind: Event
metadata: { name: one, namespace: '{p}' }
involvedObject: { apiVersion: objectstorage.k8s.io/v1alpha2, kind: Bucket, name: b, namespace: '{p}' }
reason: Created
message: The bucket was made.
type: Normal
count: 2
firstTimestamp: 2026-01-02T03:04:05Z
lastTimestamp: 2026-01-02T03:04:05Z
source: { component: sample }
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: { name: one, namespace: '{p}' }
spec:
  holderIdentity: somebody
  leaseDurationSeconds: 15
---
apiVersion: objectstorage.k8s.io/v1alpha2
kind: BucketClaim
metadata: { name: one, namespace: '{p}', labels: { run: '{p}' } }
spec:
  bucketClassName: class
  protocols: [S3]
---
apiVersion: v1
kind: Secret
metadata: { name: applied, namespace: '{p}' }
stringData: { key: value }
";

#[tokio::test(flavor = "multi_thread")]
async fn objects_in_a_namespace_are_shown_as_their_kind_is() {
    let script: &[Step] = &[
        Run(&["create", "namespace", "{p}"]),
        Run(&["create", "namespace", "{p}"]),
        Run(&["get", "namespace", "{p}"]),
        Feed(OBJECTS, &["apply", "-f", "-"]),
        Feed(OBJECTS, &["apply", "-f", "-"]),
        Run(&["get", "events,leases,bucketclaims,secrets", "-n", "{p}"]),
        Run(&["get", "events", "-n", "{p}", "-o", "wide"]),
        Run(&["get", "events", "-n", "{p}", "--field-selector", "involvedObject.name=b"]),
        Run(&["get", "events", "-n", "{p}", "--field-selector", "involvedObject.name=c"]),
        Run(&["get", "events.events.k8s.io", "-n", "{p}", "-o", "yaml"]),
        Run(&["events", "-n", "{p}"]),
        Run(&["describe", "lease", "one", "-n", "{p}"]),
        Run(&["get", "lease", "one", "-n", "{p}", "-o", "yaml"]),
        Run(&["describe", "bucketclaim", "one", "-n", "{p}"]),
        Run(&["get", "bucketclaims", "-A", "-l", "run={p}"]),
        Run(&["create", "secret", "generic", "two", "--from-literal=a=b", "-n", "{p}"]),
        Run(&["create", "secret", "generic", "two", "--from-literal=a=b", "-n", "{p}"]),
        Run(&["create", "secret", "generic", "two", "--from-literal=a=b", "-n", "{p}-absent"]),
        Run(&["describe", "secret", "two", "-n", "{p}"]),
        Run(&["get", "secret", "two", "-n", "{p}", "-o", "yaml"]),
        Run(&["get", "secrets", "-n", "{p}", "--chunk-size=1"]),
        Run(&["patch", "secret", "two", "-n", "{p}", "-p", r#"{"data":{"c":"ZA=="}}"#]),
        Run(&["patch", "secret", "two", "-n", "{p}", "-p", r#"{"type":"other"}"#]),
        Run(&["patch", "secret", "two", "-n", "{p}", "-p", r#"{"data":{"c":"!"}}"#]),
        Run(&[
            "patch",
            "secret",
            "two",
            "-n",
            "{p}",
            "-p",
            r#"{"metadata":{"finalizers":["example.com/a"]}}"#,
        ]),
        Run(&[
            "patch",
            "secret",
            "two",
            "-n",
            "{p}",
            "-p",
            r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}"#,
        ]),
        Run(&["get", "secret", "two", "-n", "{p}", "-o", "yaml", "--show-managed-fields"]),
        Run(&["delete", "secret", "two", "-n", "{p}"]),
        Run(&["delete", "secrets", "--all", "-n", "{p}"]),
        Run(&["delete", "bucketclaims", "-l", "run={p}", "-n", "{p}"]),
        Run(&["delete", "lease", "one", "-n", "{p}", "--cascade=background"]),
        Run(&["get", "secrets,leases,bucketclaims", "-n", "{p}"]),
    ];
    let Some(ours) = same_with_both("objects", script).await else { return };
    assert_eq!(ours.of("create namespace").stdout, "namespace/PREFIX created\n");
    assert!(ours.of("describe secret").stdout.contains("a:  1 bytes"));
}

/// The real API server needs controllers for this, and the tests of those are elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_goes_with_all_that_is_in_it() {
    let test = "a_namespace_goes_with_all_that_is_in_it";
    if !kubectl::is_here() {
        return skip::report(test, "there is no kubectl on PATH");
    }
    let server = embedded().await;
    let script: &[Step] = &[
        Run(&["create", "namespace", "{p}"]),
        Feed(OBJECTS, &["apply", "-f", "-"]),
        Run(&["delete", "namespace", "{p}", "--timeout=30s"]),
        Run(&["get", "namespace", "{p}"]),
        Run(&["get", "bucketclaims", "-A", "-l", "run={p}"]),
    ];
    let ours = kubectl::Kubectl::with_config(&server.kubeconfig(), "gone").run(script).await;
    assert_eq!(ours.of("delete").stdout, "namespace \"PREFIX\" deleted\n");
    assert!(ours.of("get namespace").stderr.contains("NotFound"));
    assert_eq!(ours.of("get bucketclaims").stderr, "No resources found\n");
}
