//! Paths that lead to no objects: health, version, and what there is.

use http::Method;
use serde_json::{Value, json};

use super::{Answer, Answered, Form};
use crate::service::Shared;
use crate::status::Refusal;
use crate::{discovery, openapi};

/// The version of Kubernetes whose ways are followed.
const MINOR: &str = "36";

fn version() -> Value {
    json!({
        "major": "1", "minor": MINOR,
        "emulationMajor": "1", "emulationMinor": MINOR,
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.3+cosi", "gitCommit": "", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "linux/amd64",
    })
}

pub(super) fn answer(
    shared: &Shared,
    method: &Method,
    host: &str,
    parts: &[&str],
    form: Answered,
) -> Result<Answer, Refusal> {
    let catalogue = &shared.catalogue;
    let found = match (parts, form.form) {
        (["healthz" | "livez" | "readyz"], _) => return Ok(Answer::text(200, "ok")),
        (["version"], _) => Some(version()),
        (["api"], Form::Discovery) => Some(discovery::aggregated(catalogue, true)),
        (["api"], _) => Some(discovery::core_versions(host)),
        (["apis"], Form::Discovery) => Some(discovery::aggregated(catalogue, false)),
        (["apis"], _) => Some(discovery::groups(catalogue)),
        (["api", version], _) => discovery::resources(catalogue, "", version),
        (["openapi", "v3"], _) => Some(openapi::index(catalogue)),
        (["openapi", "v3", "api", version], _) => openapi::document(catalogue, "", version),
        (["openapi", "v3", "apis", group, version], _) => openapi::document(catalogue, group, version),
        (["apis", group], _) => discovery::group(catalogue, group),
        (["apis", group, version], _) => discovery::resources(catalogue, group, version),
        _ => None,
    };
    match found {
        Some(_) if *method != Method::GET && *method != Method::HEAD => Err(Refusal::method_not_allowed()),
        Some(document) => {
            let answer = Answer::value(200, &document, form.yaml);
            Ok(match form.form {
                Form::Discovery if matches!(parts, ["api" | "apis"]) => {
                    answer.content_type(discovery::MEDIA_TYPE.to_owned())
                }
                _ => answer,
            })
        }
        None if matches!(parts, ["api", _, ..]) => Err(Refusal::no_resource()),
        None => Ok(Answer::nowhere()),
    }
}
