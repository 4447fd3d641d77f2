use super::*;
use serde_json::{Value, json};

/// Calls `look` with each schema inside of `schema`, itself included, and the way there.
fn walk(path: &str, schema: &Value, look: &mut dyn FnMut(&str, &Value)) {
    look(path, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), property, look);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            walk(&format!("{path}[{inner}]"), &schema[inner], look);
        }
    }
}

fn each_schema(look: &mut dyn FnMut(&str, &Value)) {
    for crd in crds() {
        let version = serde_json::to_value(&crd.spec.versions[0]).unwrap();
        walk(&crd.spec.names.kind, &version["schema"]["openAPIV3Schema"], look);
    }
}

#[test]
fn nothing_is_left_of_what_the_derive_adds() {
    each_schema(&mut |path, schema| {
        for word in ["nullable", "title", "anyOf", "oneOf", "allOf", "default"] {
            assert!(schema.get(word).is_none(), "{path} has {word}");
        }
        assert!(!schema["description"].to_string().contains("Auto-generated"), "{path}");
    });
}

#[test]
fn every_field_tells_a_user_what_it_is() {
    each_schema(&mut |path, schema| {
        if !path.ends_with(']') {
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{path}: {description:?}");
            assert!(!description.contains(['`', '[']), "{path} has markup: {description:?}");
        }
    });
}

#[test]
fn every_text_map_and_list_has_both_limits_or_a_fixed_form() {
    each_schema(&mut |path, schema| {
        let has = |word: &str| schema.get(word).is_some();
        let limited = match schema["type"].as_str() {
            Some("string") => {
                has("enum")
                    || has("format")
                    || (has("minLength") && has("maxLength"))
                    || path.ends_with("[additionalProperties]")
            }
            Some("array") => has("minItems") && has("maxItems") && has("x-kubernetes-list-type"),
            Some("object") => has("properties") || (has("minProperties") && has("maxProperties")),
            other => other == Some("boolean"),
        };
        assert!(limited, "{path}: {schema}");
    });
}

#[test]
fn each_definition_is_marked_and_named_as_the_api_server_wants() {
    let found: Vec<_> = crds()
        .into_iter()
        .map(|crd| {
            assert_eq!(
                crd.metadata.annotations.unwrap()["api-approved.kubernetes.io"],
                "unapproved, experimental v1alpha2 changes"
            );
            let names = crd.spec.names;
            assert_eq!(names.list_kind, Some(format!("{}List", names.kind)));
            assert_eq!(crd.metadata.name.unwrap(), format!("{}.objectstorage.k8s.io", names.plural));
            let version = &crd.spec.versions[0];
            let has_status = version.subresources.as_ref().is_some_and(|all| all.status.is_some());
            (names.plural, crd.spec.scope, version.name.clone(), has_status)
        })
        .collect();
    let expected = [
        ("bucketaccessclasses", "Cluster", false),
        ("bucketaccesses", "Namespaced", true),
        ("bucketclaims", "Namespaced", true),
        ("bucketclasses", "Cluster", false),
        ("buckets", "Cluster", true),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(plural, scope, status)| (plural.to_owned(), scope.to_owned(), "v1alpha2".to_owned(), status))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn objects_made_by_the_types_bear_no_annotation_of_the_definition() {
    let class = BucketClass::new(
        "class",
        crate::BucketClassSpec {
            driver_name: "driver".to_owned(),
            deletion_policy: crate::DeletionPolicy::Retain,
            parameters: None,
        },
    );
    assert_eq!(serde_json::to_value(class.metadata).unwrap(), json!({ "name": "class" }));
}

#[test]
fn every_rule_compiles() {
    let mut rules = 0;
    each_schema(&mut |path, schema| {
        let compiled = kube::core::cel::compile_schema(schema);
        assert!(!compiled.has_errors(), "{path}: {:?}", compiled.compilation_errors());
        rules += compiled.validations.len();
    });
    assert!(rules > 50, "only {rules} rules were found");
}
