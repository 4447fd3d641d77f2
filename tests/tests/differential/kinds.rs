//! The kinds that both servers know, with a valid object of each and values to try in its fields.

use serde_json::{Value, json};

/// A kind, and what a call about it needs.
#[derive(Debug)]
#[allow(clippy::struct_field_names, reason = "`kind` is what Kubernetes calls it")]
pub(crate) struct Kind {
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    /// As in `apiVersion`.
    pub(crate) version: &'static str,
    pub(crate) namespaced: bool,
    pub(crate) status: bool,
    pub(crate) custom: bool,
    /// A valid object without metadata, as JSON.
    valid: &'static str,
    /// A valid status, as JSON; `null` if there is none.
    valid_status: &'static str,
    /// JSON pointers, each with a JSON array of values worth trying there.
    pub(crate) fields: &'static [(&'static str, &'static str)],
}

impl Kind {
    /// The path of the group and version.
    pub(crate) fn api(&self) -> String {
        if self.version.contains('/') {
            format!("/apis/{}", self.version)
        } else {
            format!("/api/{}", self.version)
        }
    }

    /// The plural, and another word for the one of which there are two.
    pub(crate) fn tag(&self) -> &'static str {
        if self.version == "events.k8s.io/v1" { "newevents" } else { self.plural }
    }

    /// Whether a real server keeps a cache of all objects.
    pub(crate) fn cached(&self) -> bool {
        self.kind != "Event"
    }

    /// A valid object without metadata.
    pub(crate) fn object(&self) -> Value {
        let mut object = parse(self.valid);
        object["apiVersion"] = json!(self.version);
        object["kind"] = json!(self.kind);
        object
    }

    /// A valid status.
    pub(crate) fn valid_status(&self) -> Value {
        parse(self.valid_status)
    }

    /// The kind with this `kind` and `apiVersion`.
    pub(crate) fn find(kind: &str, version: &str) -> Option<&'static Self> {
        KINDS.iter().find(|known| known.kind == kind && known.version == version)
    }
}

/// Reads JSON that stands in this program.
pub(crate) fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

const COSI: &str = "objectstorage.k8s.io/v1alpha2";
const DRIVERS: &str =
    r#"["a.example", "b.example", "UPPER.Example-1", "", "-bad", "bad_name", "<long 63>", "<long 64>"]"#;
const NAMES: &str = r#"["one", "two", "", "Bad_Name", "a.b", "-", "<long 253>", "<long 254>"]"#;
const PROTOCOLS: &str =
    r#"[["S3"], ["S3", "Azure"], ["S3", "S3"], [], ["S3", "Azure", "GCS", "S3"], ["FTP"], [null], [1]]"#;
const PARAMETERS: &str =
    r#"[{"a": "b"}, {"a": "c"}, {"a": "b", "c": "d"}, {}, {"a": 1}, {"a": null}, {"a": {"b": "c"}}]"#;
const POLICIES: &str = r#"["Retain", "Delete", "retain", ""]"#;
const IDS: &str = r#"["id-1", "id/2", "id 3", "", "<long 2048>", "<long 2049>"]"#;
const ERRORS: &str = r#"[{"message": "no", "time": "2026-01-02T03:04:05Z"}, {"message": "other"}, {"time": "yesterday"}, {"time": "2026-01-02T03:04:05.123456+01:00"}, {"message": 5}, {"more": 1}, {}]"#;
const READY: &str = r#"[true, false, "true"]"#;
const TIMES: &str = r#"["2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456789+02:00", "soon", ""]"#;

/// All of them.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        plural: "buckets",
        kind: "Bucket",
        version: COSI,
        namespaced: false,
        status: true,
        custom: true,
        valid: r#"{"spec": {"driverName": "a.example", "deletionPolicy": "Delete", "protocols": ["S3"],
            "bucketClaimRef": {"name": "one", "namespace": "default", "uid": "5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5b"}}}"#,
        valid_status: r#"{"readyToUse": true, "bucketID": "id-1", "protocols": ["S3"], "bucketInfo": {"a": "b"}}"#,
        fields: &[
            ("/spec/driverName", DRIVERS),
            ("/spec/deletionPolicy", POLICIES),
            ("/spec/deletionPolicy", r#"["Retain", "Delete"]"#),
            ("/spec/protocols", PROTOCOLS),
            ("/spec/parameters", PARAMETERS),
            ("/spec/existingBucketID", IDS),
            (
                "/spec/bucketClaimRef",
                r#"[{"name": "one", "namespace": "default"}, {"name": "two", "namespace": "default"}, {"name": "one"}, {}]"#,
            ),
            ("/spec/bucketClaimRef/name", NAMES),
            ("/spec/bucketClaimRef/namespace", NAMES),
            (
                "/spec/bucketClaimRef/uid",
                r#"["5a1f2b3c-7d4e-4f60-8a9b-0c1d2e3f4a5c", "<uid buckets/-/x0>", "", "nonsense"]"#,
            ),
            ("/spec/bucketClaimRef/more", "[1]"),
            ("/spec/more", r#"[{"a": [1]}]"#),
            ("/spec", r#"[{"driverName": "a.example"}]"#),
            ("/status", r#"[{"readyToUse": true}, {}, {"more": true}]"#),
            ("/status/readyToUse", READY),
            ("/status/bucketID", IDS),
            ("/status/protocols", PROTOCOLS),
            ("/status/bucketInfo", PARAMETERS),
            ("/status/error", ERRORS),
            ("/status/more", "[1]"),
        ],
    },
    Kind {
        plural: "bucketclaims",
        kind: "BucketClaim",
        version: COSI,
        namespaced: true,
        status: true,
        custom: true,
        valid: r#"{"spec": {"bucketClassName": "one", "protocols": ["S3", "Azure"]}}"#,
        valid_status: r#"{"readyToUse": false, "boundBucketName": "one"}"#,
        fields: &[
            ("/spec/bucketClassName", NAMES),
            ("/spec/existingBucketName", NAMES),
            ("/spec/protocols", PROTOCOLS),
            (
                "/spec",
                r#"[{"existingBucketName": "one"}, {}, {"bucketClassName": "one", "existingBucketName": "one"}]"#,
            ),
            ("/status", r#"[{"readyToUse": true}, {}]"#),
            ("/status/readyToUse", READY),
            ("/status/boundBucketName", NAMES),
            ("/status/protocols", PROTOCOLS),
            ("/status/error", ERRORS),
        ],
    },
    Kind {
        plural: "bucketaccesses",
        kind: "BucketAccess",
        version: COSI,
        namespaced: true,
        status: true,
        custom: true,
        valid: r#"{"spec": {"bucketAccessClassName": "one", "protocol": "S3", "bucketClaims": [
            {"bucketClaimName": "one", "accessMode": "ReadWrite", "accessSecretName": "one"},
            {"bucketClaimName": "two", "accessMode": "ReadOnly", "accessSecretName": "two"}]}}"#,
        valid_status: r#"{"readyToUse": false, "driverName": "a.example", "authenticationType": "Key", "parameters": {"a": "b"},
            "accessedBuckets": [{"bucketName": "one", "bucketID": "id-1", "bucketClaimName": "one"}]}"#,
        fields: &[
            ("/spec/bucketAccessClassName", NAMES),
            ("/spec/protocol", r#"["S3", "GCS", "FTP"]"#),
            ("/spec/serviceAccountName", NAMES),
            (
                "/spec/bucketClaims",
                r#"[[], [{"bucketClaimName": "one", "accessMode": "ReadWrite", "accessSecretName": "one"}],
                [{"bucketClaimName": "one", "accessMode": "ReadWrite", "accessSecretName": "one"},
                 {"bucketClaimName": "one", "accessMode": "ReadOnly", "accessSecretName": "two"}], [{}], [null], {}]"#,
            ),
            ("/spec/bucketClaims/0/accessMode", r#"["ReadOnly", "Execute"]"#),
            ("/spec/bucketClaims/0/bucketClaimName", NAMES),
            ("/spec/bucketClaims/1/accessSecretName", NAMES),
            ("/spec/bucketClaims/1/more", "[1]"),
            ("/status", r#"[{"readyToUse": true}, {}]"#),
            ("/status/readyToUse", READY),
            ("/status/accountID", IDS),
            (
                "/status/accessedBuckets",
                r#"[[], [{"bucketName": "one", "bucketID": "id-2", "bucketClaimName": "one"}],
                [{"bucketName": "one", "bucketID": "id-1", "bucketClaimName": "one"},
                 {"bucketName": "one", "bucketID": "id-1", "bucketClaimName": "two"}], [{"bucketName": "one"}]]"#,
            ),
            ("/status/authenticationType", r#"["Key", "ServiceAccount", "None"]"#),
            ("/status/driverName", DRIVERS),
            ("/status/parameters", PARAMETERS),
            ("/status/error", ERRORS),
        ],
    },
    Kind {
        plural: "bucketclasses",
        kind: "BucketClass",
        version: COSI,
        namespaced: false,
        status: false,
        custom: true,
        valid: r#"{"spec": {"driverName": "a.example", "deletionPolicy": "Retain"}}"#,
        valid_status: "null",
        fields: &[
            ("/spec/driverName", DRIVERS),
            ("/spec/deletionPolicy", POLICIES),
            ("/spec/parameters", PARAMETERS),
            ("/status", r#"[{"readyToUse": true}]"#),
        ],
    },
    Kind {
        plural: "bucketaccessclasses",
        kind: "BucketAccessClass",
        version: COSI,
        namespaced: false,
        status: false,
        custom: true,
        valid: r#"{"spec": {"driverName": "a.example", "authenticationType": "Key"}}"#,
        valid_status: "null",
        fields: &[
            ("/spec/driverName", DRIVERS),
            ("/spec/authenticationType", r#"["Key", "ServiceAccount", "None"]"#),
            (
                "/spec/disallowedBucketAccessModes",
                r#"[["ReadOnly"], ["ReadOnly", "ReadOnly"], [], ["Execute"]]"#,
            ),
            ("/spec/multiBucketAccess", r#"["SingleBucket", "MultipleBuckets", "Many"]"#),
            ("/spec/parameters", PARAMETERS),
        ],
    },
    Kind {
        plural: "secrets",
        kind: "Secret",
        version: "v1",
        namespaced: true,
        status: false,
        custom: false,
        valid: r#"{"data": {"a": "Yg=="}}"#,
        valid_status: "null",
        fields: &[
            (
                "/data",
                r#"[{"a": "Yg==", "c": "ZA=="}, {}, {"a": "nonsense!"}, {"bad key": "Yg=="}, {"a": 1}, {"a": null}]"#,
            ),
            ("/data/a", r#"["Yw==", "Yg", "", 5, null]"#),
            ("/stringData", r#"[{"a": "plain"}, {"d": "new"}, {}, {"a": 1}, {"a": null}]"#),
            (
                "/type",
                r#"["Opaque", "example.com/own", "kubernetes.io/basic-auth", "kubernetes.io/tls", "kubernetes.io/service-account-token", "kubernetes.io/dockerconfigjson", ""]"#,
            ),
            ("/immutable", r#"[true, false, "true"]"#),
            ("/more", "[1]"),
        ],
    },
    Kind {
        plural: "leases",
        kind: "Lease",
        version: "coordination.k8s.io/v1",
        namespaced: true,
        status: false,
        custom: false,
        valid: r#"{"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0,
            "acquireTime": "2026-01-02T03:04:05.000000Z", "renewTime": "2026-01-02T03:04:05.000000Z"}}"#,
        valid_status: "null",
        fields: &[
            ("/spec/holderIdentity", r#"["you", "", 5]"#),
            ("/spec/leaseDurationSeconds", r#"[1, 15, 0, -1, "15", 1.5, 3000000000]"#),
            ("/spec/leaseTransitions", r#"[0, 1, -1, "1"]"#),
            ("/spec/renewTime", TIMES),
            ("/spec/acquireTime", TIMES),
            ("/spec/strategy", r#"["OldestEmulationVersion", "example.com/own", ""]"#),
            ("/spec/preferredHolder", r#"["you", ""]"#),
            ("/spec/more", "[1]"),
            ("/spec", "[{}]"),
        ],
    },
    Kind {
        plural: "events",
        kind: "Event",
        version: "v1",
        namespaced: true,
        status: false,
        custom: false,
        valid: r#"{"involvedObject": {"apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketClaim", "name": "<pre>-x0",
            "namespace": "<pre>-main"}, "reason": "Done", "message": "All is well", "type": "Normal", "count": 1,
            "source": {"component": "me"}, "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:05Z"}"#,
        valid_status: "null",
        fields: &[
            ("/involvedObject/name", r#"["<pre>-x1", "", "other"]"#),
            ("/involvedObject/namespace", r#"["<pre>-main", "default", ""]"#),
            ("/involvedObject/uid", r#"["<uid bucketclaims/main/x0>", "none"]"#),
            ("/involvedObject/fieldPath", r#"["spec"]"#),
            ("/reason", r#"["Other", "", "<long 129>"]"#),
            ("/message", r#"["Another", "", "<long 1025>"]"#),
            ("/type", r#"["Normal", "Warning", "Odd", ""]"#),
            ("/count", r#"[2, 0, "2"]"#),
            ("/source", r#"[{"component": "you", "host": "there"}, {}]"#),
            ("/eventTime", TIMES),
            ("/series", r#"[{"count": 2, "lastObservedTime": "2026-01-02T03:04:05.000000Z"}, {}]"#),
            ("/action", r#"["Doing", "<long 129>"]"#),
            ("/reportingComponent", r#"["example.com/me", "bad name", ""]"#),
            ("/reportingInstance", r#"["me-1", "<long 129>"]"#),
            ("/related", r#"[{"kind": "Secret", "name": "one", "namespace": "<pre>-main"}]"#),
            ("/lastTimestamp", TIMES),
            ("/more", "[1]"),
        ],
    },
    Kind {
        plural: "events",
        kind: "Event",
        version: "events.k8s.io/v1",
        namespaced: true,
        status: false,
        custom: false,
        valid: r#"{"regarding": {"apiVersion": "objectstorage.k8s.io/v1alpha2", "kind": "BucketClaim", "name": "<pre>-x0",
            "namespace": "<pre>-main"}, "reason": "Done", "note": "All is well", "type": "Normal", "action": "Doing",
            "reportingController": "example.com/me", "reportingInstance": "me-1", "eventTime": "2026-01-02T03:04:05.000000Z"}"#,
        valid_status: "null",
        fields: &[
            ("/regarding/name", r#"["<pre>-x1", "", "other"]"#),
            ("/regarding/namespace", r#"["<pre>-main", "default", ""]"#),
            ("/reason", r#"["Other", "", "<long 129>"]"#),
            ("/note", r#"["Another", "", "<long 1025>"]"#),
            ("/type", r#"["Normal", "Warning", "Odd", ""]"#),
            ("/action", r#"["Else", "", "<long 129>"]"#),
            ("/eventTime", TIMES),
            (
                "/series",
                r#"[{"count": 2, "lastObservedTime": "2026-01-02T03:04:05.000000Z"}, {"count": 1, "lastObservedTime": "2026-01-02T03:04:05.000000Z"}, {}]"#,
            ),
            ("/reportingController", r#"["example.com/you", "bad name", ""]"#),
            ("/reportingInstance", r#"["me-2", "", "<long 129>"]"#),
            ("/deprecatedCount", "[1, 0]"),
            ("/deprecatedSource", r#"[{"component": "me"}]"#),
            ("/deprecatedLastTimestamp", TIMES),
            ("/more", "[1]"),
        ],
    },
    Kind {
        plural: "namespaces",
        kind: "Namespace",
        version: "v1",
        namespaced: false,
        status: true,
        custom: false,
        valid: "{}",
        valid_status: r#"{"phase": "Active"}"#,
        fields: &[
            (
                "/spec",
                r#"[{"finalizers": ["kubernetes"]}, {"finalizers": []}, {"finalizers": ["example.com/mine", "kubernetes"]}, {"finalizers": ["bad"]}, {}]"#,
            ),
            ("/status", r#"[{"phase": "Active"}, {"phase": "Terminating"}, {}]"#),
            ("/metadata/labels/kubernetes.io~1metadata.name", r#"["other", null]"#),
            ("/more", "[1]"),
        ],
    },
];
