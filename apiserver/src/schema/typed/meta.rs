//! Metadata, which every object has.

use super::{Items, Shape, Struct, TEXT, always, field, optional};

/// An object's metadata.
pub(in crate::schema) static OBJECT_META: Struct = Struct {
    name: "ObjectMeta",
    atomic: false,
    fields: &[
        field("name", TEXT),
        field("generateName", TEXT),
        field("namespace", TEXT),
        field("selfLink", TEXT),
        field("uid", Shape::Text("types.UID")),
        field("resourceVersion", TEXT),
        field("generation", Shape::Int64),
        field("creationTimestamp", Shape::Time),
        optional("deletionTimestamp", Shape::Time),
        optional("deletionGracePeriodSeconds", Shape::Int64),
        field("labels", Shape::Map(&TEXT)),
        field("annotations", Shape::Map(&TEXT)),
        field("ownerReferences", Shape::List(&Shape::Struct(&OWNER_REFERENCE), Items::By("uid"))),
        field("finalizers", Shape::List(&TEXT, Items::Set)),
        field("managedFields", Shape::List(&Shape::Struct(&MANAGED_FIELDS_ENTRY), Items::Atomic)),
    ],
};

static OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    atomic: true,
    fields: &[
        always("apiVersion", TEXT),
        always("kind", TEXT),
        always("name", TEXT),
        always("uid", Shape::Text("types.UID")),
        optional("controller", Shape::Bool),
        optional("blockOwnerDeletion", Shape::Bool),
    ],
};

static MANAGED_FIELDS_ENTRY: Struct = Struct {
    name: "ManagedFieldsEntry",
    atomic: false,
    fields: &[
        field("manager", TEXT),
        field("operation", Shape::Text("v1.ManagedFieldsOperationType")),
        field("apiVersion", TEXT),
        optional("time", Shape::Time),
        field("fieldsType", TEXT),
        optional("fieldsV1", Shape::Raw),
        field("subresource", TEXT),
    ],
};
