//! Metadata, which every object has.

use super::{Items, Shape, Struct, TEXT, always, field, optional};

/// An object's metadata.
pub(in crate::schema) static OBJECT_META: Struct = Struct {
    name: "ObjectMeta",
    atomic: false,
    fields: &[
        field(1, "name", TEXT),
        field(2, "generateName", TEXT),
        field(3, "namespace", TEXT),
        field(4, "selfLink", TEXT),
        field(5, "uid", Shape::Text("types.UID")),
        field(6, "resourceVersion", TEXT),
        field(7, "generation", Shape::Int64),
        field(8, "creationTimestamp", Shape::Time),
        optional(9, "deletionTimestamp", Shape::Time),
        optional(10, "deletionGracePeriodSeconds", Shape::Int64),
        field(11, "labels", Shape::Map(&TEXT)),
        field(12, "annotations", Shape::Map(&TEXT)),
        field(13, "ownerReferences", Shape::List(&Shape::Struct(&OWNER_REFERENCE), Items::By("uid"))),
        field(14, "finalizers", Shape::List(&TEXT, Items::Set)),
        // An empty list is kept: it says that nobody shall be known to own anything.
        optional(17, "managedFields", Shape::List(&Shape::Struct(&MANAGED_FIELDS_ENTRY), Items::Atomic)),
    ],
};

static OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    atomic: true,
    fields: &[
        always(5, "apiVersion", TEXT),
        always(1, "kind", TEXT),
        always(3, "name", TEXT),
        always(4, "uid", Shape::Text("types.UID")),
        optional(6, "controller", Shape::Bool),
        optional(7, "blockOwnerDeletion", Shape::Bool),
    ],
};

static MANAGED_FIELDS_ENTRY: Struct = Struct {
    name: "ManagedFieldsEntry",
    atomic: false,
    fields: &[
        field(1, "manager", TEXT),
        field(2, "operation", Shape::Text("v1.ManagedFieldsOperationType")),
        field(3, "apiVersion", TEXT),
        optional(4, "time", Shape::Time),
        field(6, "fieldsType", TEXT),
        optional(7, "fieldsV1", Shape::Raw),
        field(8, "subresource", TEXT),
    ],
};
