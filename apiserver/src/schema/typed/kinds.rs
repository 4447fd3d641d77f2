//! The built-in kinds that are served here.

use super::{Field, Items, OBJECT_META, Shape, Struct, TEXT, always, field, optional};

const METADATA: Field = always(1, "metadata", Shape::Struct(&OBJECT_META));
const API_VERSION: Field = field(0, "apiVersion", TEXT);
const KIND: Field = field(0, "kind", TEXT);

/// A definition of a kind. What it says is kept as it is.
pub(in crate::schema) static DEFINITION: Struct = Struct {
    name: "CustomResourceDefinition",
    atomic: false,
    fields: &[
        API_VERSION,
        KIND,
        METADATA,
        optional(2, "spec", Shape::Raw),
        optional(3, "status", Shape::Raw),
    ],
};

/// A Secret.
pub(in crate::schema) static SECRET: Struct = Struct {
    name: "Secret",
    atomic: false,
    fields: &[
        API_VERSION,
        KIND,
        METADATA,
        optional(5, "immutable", Shape::Bool),
        field(2, "data", Shape::Map(&Shape::Bytes)),
        field(4, "stringData", Shape::Map(&TEXT)),
        field(3, "type", Shape::Text("v1.SecretType")),
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
        always(2, "spec", Shape::Struct(&NAMESPACE_SPEC)),
        always(3, "status", Shape::Struct(&NAMESPACE_STATUS)),
    ],
};

static NAMESPACE_SPEC: Struct = Struct {
    name: "NamespaceSpec",
    atomic: false,
    fields: &[field(1, "finalizers", Shape::List(&Shape::Text("v1.FinalizerName"), Items::Atomic))],
};

static NAMESPACE_STATUS: Struct = Struct {
    name: "NamespaceStatus",
    atomic: false,
    fields: &[
        field(1, "phase", Shape::Text("v1.NamespacePhase")),
        field(2, "conditions", Shape::List(&Shape::Struct(&NAMESPACE_CONDITION), Items::By("type"))),
    ],
};

static NAMESPACE_CONDITION: Struct = Struct {
    name: "NamespaceCondition",
    atomic: false,
    fields: &[
        always(1, "type", Shape::Text("v1.NamespaceConditionType")),
        always(2, "status", Shape::Text("v1.ConditionStatus")),
        always(4, "lastTransitionTime", Shape::Time),
        field(5, "reason", TEXT),
        field(6, "message", TEXT),
    ],
};

/// A Lease.
pub(in crate::schema) static LEASE: Struct = Struct {
    name: "Lease",
    atomic: false,
    fields: &[API_VERSION, KIND, METADATA, always(2, "spec", Shape::Struct(&LEASE_SPEC))],
};

static LEASE_SPEC: Struct = Struct {
    name: "LeaseSpec",
    atomic: false,
    fields: &[
        optional(1, "holderIdentity", TEXT),
        optional(2, "leaseDurationSeconds", Shape::Int32),
        optional(3, "acquireTime", Shape::MicroTime),
        optional(4, "renewTime", Shape::MicroTime),
        optional(5, "leaseTransitions", Shape::Int32),
        optional(6, "strategy", Shape::Text("v1.CoordinatedLeaseStrategy")),
        optional(7, "preferredHolder", TEXT),
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
        always(2, "involvedObject", Shape::Struct(&OBJECT_REFERENCE)),
        field(3, "reason", TEXT),
        field(4, "message", TEXT),
        always(5, "source", Shape::Struct(&EVENT_SOURCE)),
        always(6, "firstTimestamp", Shape::Time),
        always(7, "lastTimestamp", Shape::Time),
        field(8, "count", Shape::Int32),
        field(9, "type", TEXT),
        always(10, "eventTime", Shape::MicroTime),
        optional(11, "series", Shape::Struct(&CORE_EVENT_SERIES)),
        field(12, "action", TEXT),
        optional(13, "related", Shape::Struct(&OBJECT_REFERENCE)),
        always(14, "reportingComponent", TEXT),
        always(15, "reportingInstance", TEXT),
    ],
};

static CORE_EVENT_SERIES: Struct = Struct {
    name: "EventSeries",
    atomic: false,
    fields: &[field(1, "count", Shape::Int32), always(2, "lastObservedTime", Shape::MicroTime)],
};

static EVENT_SOURCE: Struct = Struct {
    name: "EventSource",
    atomic: false,
    fields: &[field(1, "component", TEXT), field(2, "host", TEXT)],
};

static OBJECT_REFERENCE: Struct = Struct {
    name: "ObjectReference",
    atomic: true,
    fields: &[
        field(1, "kind", TEXT),
        field(2, "namespace", TEXT),
        field(3, "name", TEXT),
        field(4, "uid", Shape::Text("types.UID")),
        field(5, "apiVersion", TEXT),
        field(6, "resourceVersion", TEXT),
        field(7, "fieldPath", TEXT),
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
        always(2, "eventTime", Shape::MicroTime),
        optional(3, "series", Shape::Struct(&EVENT_SERIES)),
        field(4, "reportingController", TEXT),
        field(5, "reportingInstance", TEXT),
        field(6, "action", TEXT),
        field(7, "reason", TEXT),
        always(8, "regarding", Shape::Struct(&OBJECT_REFERENCE)),
        optional(9, "related", Shape::Struct(&OBJECT_REFERENCE)),
        field(10, "note", TEXT),
        field(11, "type", TEXT),
        always(12, "deprecatedSource", Shape::Struct(&EVENT_SOURCE)),
        always(13, "deprecatedFirstTimestamp", Shape::Time),
        always(14, "deprecatedLastTimestamp", Shape::Time),
        field(15, "deprecatedCount", Shape::Int32),
    ],
};

static EVENT_SERIES: Struct = Struct {
    name: "EventSeries",
    atomic: false,
    fields: &[always(1, "count", Shape::Int32), always(2, "lastObservedTime", Shape::MicroTime)],
};
