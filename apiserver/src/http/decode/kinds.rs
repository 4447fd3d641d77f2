//! Of which kind an object says that it is.

use serde_json::Value;

use crate::schema::{Kind, print};
use crate::status::Refusal;

/// What a real server reads kind and version into.
const HEAD: &str = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

/// What is said of an object of a custom kind whose version is null.
pub(crate) const NULL_VERSION: &str =
    ".apiVersion accessor error: <nil> is of the type <nil>, expected string";

/// Version and kind that an object names, empty for none; or why they can't be read.
pub(crate) fn head(value: &Value) -> Result<(String, String), String> {
    let odd = |found: &Value, what: String| {
        let found = print::type_name(found);
        format!("couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go {what}")
    };
    let Value::Object(fields) = value else { return Err(odd(value, format!("value of type {HEAD}"))) };
    let text = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(found) => Err(odd(found, format!("struct field .{field} of type string"))),
    };
    Ok((text("apiVersion")?, text("kind")?))
}

/// Why a version can't be one, if it can't.
pub(crate) fn odd_version(version: &str) -> Option<String> {
    (version.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {version}"))
}

/// The object with the names of its kind and version.
pub(crate) fn named(kind: &Kind, mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
        fields.insert("kind".to_owned(), Value::from(kind.kind.clone()));
    }
    object
}

/// An object of a built-in kind names that kind, or none.
pub(crate) fn of_builtin(kind: &Kind, version: &str, name: &str) -> Result<(), Refusal> {
    let wanted = kind.api_version();
    let version = if version.is_empty() { &wanted } else { version };
    let name = if name.is_empty() { &kind.kind } else { name };
    if version == wanted && name == kind.kind {
        return Ok(());
    }
    let short = version.rsplit('/').next().unwrap_or(version);
    let why = if is_known(version, name) {
        // Both groups' Events are one kind inside the real server.
        let group = kind.group.split('.').next().filter(|group| !["", "events"].contains(group));
        let hub = group.unwrap_or("core");
        format!("converting (v1.{name}) to ({hub}.{}): unknown conversion", kind.kind)
    } else {
        unregistered(version, name)
    };
    let text = format!("{name} in version \"{short}\" cannot be handled as a {}: {why}", kind.kind);
    Err(Refusal::bad_request(text))
}

/// Kinds of the core group that a real server knows, be they served here or not.
const CORE: [&str; 19] = [
    "APIGroup",
    "Binding",
    "ComponentStatus",
    "ConfigMap",
    "Endpoints",
    "Event",
    "LimitRange",
    "List",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Secret",
    "Service",
    "ServiceAccount",
];

/// Whether a real server knows the kind. Some kinds are in every group.
fn is_known(version: &str, name: &str) -> bool {
    let own: &[&str] = match version {
        "v1" => &CORE,
        "events.k8s.io/v1" => &["Event", "EventList"],
        "coordination.k8s.io/v1" => &["Lease", "LeaseList"],
        _ => return false,
    };
    own.contains(&name) || ["Status", "WatchEvent", "DeleteOptions"].contains(&name)
}

/// What is said of an object where the options of a deletion are wanted.
pub(super) fn no_options(version: &str, name: &str) -> String {
    if is_known(version, name) {
        let short = version.rsplit('/').next().unwrap_or(version);
        format!("converting ({short}.{name}) to (v1.DeleteOptions): unknown conversion")
    } else {
        unregistered(version, name)
    }
}

/// What is said of a kind that nobody knows.
fn unregistered(version: &str, name: &str) -> String {
    format!(
        "no kind \"{name}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
    )
}

/// What is said of an object of another version than the path's.
pub(super) fn other_version(kind: &Kind, version: &str) -> Refusal {
    Refusal::bad_request(format!(
        "the API version in the data ({version}) does not match the expected API version ({})",
        kind.api_version()
    ))
}
