//! The built-in kinds that are served here.

use super::{Field, Items, OBJECT_META, Shape, Struct, TEXT, always, field, optional};

const METADATA: Field = always("metadata", Shape::Struct(&OBJECT_META));
const API_VERSION: Field = field("apiVersion", TEXT);
const KIND: Field = field("kind", TEXT);

/// A Secret.
pub(in crate::schema) static SECRET: Struct = Struct {
    name: "Secret",
    atomic: false,
    fields: &[
        API_VERSION,
        KIND,
        METADATA,
        optional("immutable", Shape::Bool),
        field("data", Shape::Map(&Shape::Bytes)),
        field("stringData", Shape::Map(&TEXT)),
        field("type", Shape::Text("v1.SecretType")),
    ],
};

/// A Namespace.
pub(in crate::schema) static NAMESPACE: Struct = Struct {
    name: "Namespace",
    atomic: false,
    fields: &[
        API_VERSION,
        KIND,
        METADATA,
        always("spec", Shape::Struct(&NAMESPACE_SPEC)),
        always("status", Shape::Struct(&NAMESPACE_STATUS)),
    ],
};

static NAMESPACE_SPEC: Struct = Struct {
    name: "NamespaceSpec",
    atomic: false,
    fields: &[field("finalizers", Shape::List(&Shape::Text("v1.FinalizerName"), Items::Atomic))],
};

static NAMESPACE_STATUS: Struct = Struct {
    name: "NamespaceStatus",
    atomic: false,
    fields: &[
        field("phase", Shape::Text("v1.NamespacePhase")),
        field("conditions", Shape::List(&Shape::Struct(&NAMESPACE_CONDITION), Items::By("type"))),
    ],
};

static NAMESPACE_CONDITION: Struct = Struct {
    name: "NamespaceCondition",
    atomic: false,
    fields: &[
        always("type", Shape::Text("v1.NamespaceConditionType")),
        always("status", Shape::Text("v1.ConditionStatus")),
        always("lastTransitionTime", Shape::Time),
        field("reason", TEXT),
        field("message", TEXT),
    ],
};

/// A Lease.
pub(in crate::schema) static LEASE: Struct = Struct {
    name: "Lease",
    atomic: false,
    fields: &[API_VERSION, KIND, METADATA, always("spec", Shape::Struct(&LEASE_SPEC))],
};

static LEASE_SPEC: Struct = Struct {
    name: "LeaseSpec",
    atomic: false,
    fields: &[
        optional("holderIdentity", TEXT),
        optional("leaseDurationSeconds", Shape::Int32),
        optional("acquireTime", Shape::MicroTime),
        optional("renewTime", Shape::MicroTime),
        optional("leaseTransitions", Shape::Int32),
        optional("strategy", Shape::Text("v1.CoordinatedLeaseStrategy")),
        optional("preferredHolder", TEXT),
    ],
};

/// An Event as the core group has it.
pub(in crate::schema) static CORE_EVENT: Struct = Struct {
    name: "Event",
    atomic: false,
    fields: &[
        API_VERSION,
        KIND,
        METADATA,
        always("involvedObject", Shape::Struct(&OBJECT_REFERENCE)),
        field("reason", TEXT),
        field("message", TEXT),
        always("source", Shape::Struct(&EVENT_SOURCE)),
        always("firstTimestamp", Shape::Time),
        always("lastTimestamp", Shape::Time),
        field("count", Shape::Int32),
        field("type", TEXT),
        always("eventTime", Shape::MicroTime),
        optional("series", Shape::Struct(&CORE_EVENT_SERIES)),
        field("action", TEXT),
        optional("related", Shape::Struct(&OBJECT_REFERENCE)),
        always("reportingComponent", TEXT),
        always("reportingInstance", TEXT),
    ],
};

static CORE_EVENT_SERIES: Struct = Struct {
    name: "EventSeries",
    atomic: false,
    fields: &[field("count", Shape::Int32), always("lastObservedTime", Shape::MicroTime)],
};

static EVENT_SOURCE: Struct =
    Struct { name: "EventSource", atomic: false, fields: &[field("component", TEXT), field("host", TEXT)] };

static OBJECT_REFERENCE: Struct = Struct {
    name: "ObjectReference",
    atomic: true,
    fields: &[
        field("kind", TEXT),
        field("namespace", TEXT),
        field("name", TEXT),
        field("uid", Shape::Text("types.UID")),
        field("apiVersion", TEXT),
        field("resourceVersion", TEXT),
        field("fieldPath", TEXT),
    ],
};

/// An Event as the group `events.k8s.io` has it.
pub(in crate::schema) static EVENT: Struct = Struct {
    name: "Event",
    atomic: false,
    fields: &[
        API_VERSION,
        KIND,
        METADATA,
        always("eventTime", Shape::MicroTime),
        optional("series", Shape::Struct(&EVENT_SERIES)),
        field("reportingController", TEXT),
        field("reportingInstance", TEXT),
        field("action", TEXT),
        field("reason", TEXT),
        always("regarding", Shape::Struct(&OBJECT_REFERENCE)),
        optional("related", Shape::Struct(&OBJECT_REFERENCE)),
        field("note", TEXT),
        field("type", TEXT),
        always("deprecatedSource", Shape::Struct(&EVENT_SOURCE)),
        always("deprecatedFirstTimestamp", Shape::Time),
        always("deprecatedLastTimestamp", Shape::Time),
        field("deprecatedCount", Shape::Int32),
    ],
};

static EVENT_SERIES: Struct = Struct {
    name: "EventSeries",
    atomic: false,
    fields: &[always("count", Shape::Int32), always("lastObservedTime", Shape::MicroTime)],
};
