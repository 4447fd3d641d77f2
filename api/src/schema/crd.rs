//! From the derived definitions to the ones that are installed.

use crate::kinds::{Bucket, BucketAccess, BucketAccessClass, BucketClaim, BucketClass};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

/// The API server wants to know who approved a definition in a `*.k8s.io` group, or to be told that nobody did.
const APPROVAL: (&str, &str) = ("api-approved.kubernetes.io", "unapproved, experimental v1alpha2 changes");

/// The five definitions, ready to be installed.
#[must_use]
pub fn crds() -> Vec<CustomResourceDefinition> {
    [BucketAccessClass::crd(), BucketAccess::crd(), BucketClaim::crd(), BucketClass::crd(), Bucket::crd()]
        .map(finished)
        .into()
}

fn finished(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    let (name, value) = APPROVAL;
    crd.metadata.annotations.get_or_insert_default().insert(name.to_owned(), value.to_owned());
    crd.spec.names.list_kind = Some(format!("{}List", crd.spec.names.kind));
    crd.spec.names.short_names = None;
    crd.spec.names.categories = None;
    for version in &mut crd.spec.versions {
        version.selectable_fields = None;
        if let Some(root) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            tidy(root);
        }
    }
    crd
}

/// Takes out what the derive adds and the API doesn't have. `nullable` matters most: with it the API server stores a
/// null where a client sends one, and others' rules see a field that is there and has no value.
fn tidy(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.title = None;
    for property in schema.properties.iter_mut().flat_map(|properties| properties.values_mut()) {
        tidy(property);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        tidy(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        tidy(values);
    }
}

#[cfg(test)]
mod tests;
