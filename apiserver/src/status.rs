//! Why a request is refused, in the words that clients of Kubernetes know.

use serde_json::{Map, Value, json};

use crate::schema::{Cause, Kind, print::quoted};

/// A refused request: an HTTP status code and what the `Status` object in the answer says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    code: u16,
    reason: &'static str,
    message: String,
    details: Map<String, Value>,
    /// Whether the details are shown though there are none.
    empty_details: bool,
}

impl Refusal {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Map::new(), empty_details: false }
    }

    /// 400: the request cannot be understood.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 400: the object has no name, and the path wants `name`.
    #[must_use]
    pub fn nameless(name: &str) -> Self {
        let why = "was undeterminable: name must be provided";
        Self::bad_request(format!("the name of the object ({name} based on URL) {why}"))
    }

    /// 400: the resourceVersion of a list, or of what is read like one, is none.
    #[must_use]
    pub fn bad_revision(why: &str) -> Self {
        Self::bad_request(format!("invalid resource version: {why}"))
    }

    /// 404: there is no object of that name.
    #[must_use]
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {} not found", resource(kind), quoted(name));
        Self::new(404, "NotFound", message).about(&kind.group, &kind.plural, name)
    }

    /// 404 about an object of the core group.
    #[must_use]
    pub fn not_found_of(plural: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{plural} {} not found", quoted(name))).about("", plural, name)
    }

    /// 404: the path has no meaning here.
    #[must_use]
    pub fn no_resource() -> Self {
        Self::unrouted(404, "NotFound", "the server could not find the requested resource")
    }

    /// 409: the name is taken.
    #[must_use]
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {} already exists", resource(kind), quoted(name));
        Self::new(409, "AlreadyExists", message).about(&kind.group, &kind.plural, name)
    }

    /// 409: the object is another one than the request is about.
    #[must_use]
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {}: {why}", resource(kind), quoted(name));
        Self::new(409, "Conflict", message).about(&kind.group, &kind.plural, name)
    }

    /// 409 to a deletion, which is told of the kind and not of the resource.
    #[must_use]
    pub fn conflict_by_kind(kind: &Kind, name: &str, why: &str) -> Self {
        // Both groups' Events are one kind inside the real server.
        let group = if kind.builtin && kind.plural == "events" { "" } else { &kind.group };
        let named = qualified(&kind.kind, group);
        let message = format!("Operation cannot be fulfilled on {named} {}: {why}", quoted(name));
        Self::new(409, "Conflict", message).about(group, &kind.kind, name)
    }

    /// 409 to a write that was made for an older version of the object.
    #[must_use]
    pub fn outdated(kind: &Kind, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    /// 422: the object breaks a rule of its kind.
    #[must_use]
    pub fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_of(&kind.group, &kind.kind, name, causes)
    }

    /// 422 about an object that is no stored kind's, or is named by its plural.
    #[must_use]
    pub fn invalid_of(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for text in causes.iter().map(Cause::text) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let listed = match texts.as_slice() {
            [] => "<nil>".to_owned(),
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let message = format!("{} {} is invalid: {listed}", qualified(kind, group), quoted(name));
        let causes: Vec<Value> = causes
            .iter()
            .map(|cause| json!({"reason": cause.reason.as_str(), "message": cause.message, "field": cause.field}))
            .collect();
        let mut refusal = Self::new(422, "Invalid", message).about(group, kind, name);
        if !causes.is_empty() {
            refusal.details.insert("causes".to_owned(), Value::Array(causes));
        }
        refusal
    }

    /// 409: others own fields that would be changed.
    #[must_use]
    pub fn contested(message: impl Into<String>) -> Self {
        Self::new(409, "Conflict", message)
    }

    /// 403: not here, or not now.
    #[must_use]
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", resource(kind))
        } else {
            format!("{} {} is forbidden: {why}", resource(kind), quoted(name))
        };
        Self::new(403, "Forbidden", message).about(&kind.group, &kind.plural, name)
    }

    /// What is found out before it is known which object is meant.
    #[must_use]
    pub fn unrouted(code: u16, reason: &'static str, message: &str) -> Self {
        Self { empty_details: true, ..Self::new(code, reason, message) }
    }

    /// 405: the resource knows no such verb.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::unrouted(405, "MethodNotAllowed", message)
    }

    /// 405: objects of this kind know no such verb.
    #[must_use]
    pub fn verb_not_supported(kind: &Kind, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{}\"", resource(kind));
        Self::new(405, "MethodNotAllowed", message).about(&kind.group, &kind.plural, "")
    }

    /// 406: the client accepts nothing that can be given.
    #[must_use]
    pub fn not_acceptable(accepted: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", accepted.join(", "));
        Self::new(406, "NotAcceptable", message)
    }

    /// 415: the body is in a format that is not read.
    #[must_use]
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 413: the body is larger than `limit` bytes.
    #[must_use]
    pub fn too_large(limit: usize) -> Self {
        Self::too_large_text(format!("Request entity too large: limit is {limit}"))
    }

    /// 413, told in these words.
    #[must_use]
    pub fn too_large_text(message: impl Into<String>) -> Self {
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// 410: what is asked for is older than what is kept.
    #[must_use]
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 504: what is asked for is newer than what there is.
    #[must_use]
    pub fn too_new(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut refusal = Self::new(504, "Timeout", message);
        refusal.details.insert("retryAfterSeconds".to_owned(), json!(1));
        let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        refusal.details.insert("causes".to_owned(), json!([cause]));
        refusal
    }

    /// 500: what a real API server finds only when it writes.
    #[must_use]
    pub fn internal(message: &str) -> Self {
        let mut refusal = Self::new(500, "InternalError", format!("Internal error occurred: {message}"));
        refusal.details.insert("causes".to_owned(), json!([{ "message": message }]));
        refusal
    }

    /// What a real API server answers where nobody thought of a reason.
    #[must_use]
    pub fn other(code: u16, message: &str) -> Self {
        Self::new(code, "", message)
    }

    /// 429: too many requests; come back after that many seconds.
    #[must_use]
    pub fn too_many_requests(message: impl Into<String>, seconds: u64) -> Self {
        let mut refusal = Self::new(429, "TooManyRequests", message);
        refusal.details.insert("retryAfterSeconds".to_owned(), json!(seconds));
        refusal
    }

    /// With this list of what exactly is wrong.
    #[must_use]
    pub fn causes(mut self, causes: Vec<Value>) -> Self {
        self.details.insert("causes".to_owned(), Value::Array(causes));
        self
    }

    /// With this text before the message.
    #[must_use]
    pub fn preceded_by(mut self, text: &str) -> Self {
        self.message.insert_str(0, text);
        self
    }

    /// Of a name that is taken, and might not be if the server had chosen it.
    #[must_use]
    pub fn of_generated_name(mut self) -> Self {
        self.message.push_str(", the server was not able to generate a unique name for the object");
        self.details.insert("retryAfterSeconds".to_owned(), json!(1));
        self
    }

    /// Whether the name is taken.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                self.details.insert(key.to_owned(), Value::from(value));
            }
        }
        self
    }

    /// The HTTP status code.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The seconds after which the client may try again, if the answer says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        self.details.get("retryAfterSeconds").and_then(Value::as_u64)
    }

    /// The `Status` object of the answer.
    #[must_use]
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if let (false, Some(status)) = (self.reason.is_empty(), status.as_object_mut()) {
            status.insert("reason".to_owned(), Value::from(self.reason));
        }
        if let (true, Some(status)) = (self.empty_details || !self.details.is_empty(), status.as_object_mut())
        {
            status.insert("details".to_owned(), Value::Object(self.details.clone()));
        }
        status
    }
}

/// `buckets.objectstorage.k8s.io`, or the plural alone in the core group.
fn resource(kind: &Kind) -> String {
    qualified(&kind.plural, &kind.group)
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}
