//! Answers that the proxy gives in the API server's stead.

use std::time::Duration;

use http::{HeaderValue, Response, StatusCode, header};
use serde_json::json;

use super::body::{Body, full};

/// A Kubernetes `Status` answer with an HTTP status code.
#[derive(Clone, Debug)]
pub struct Refusal {
    code: u16,
    reason: &'static str,
    message: String,
    retry_after: Option<u64>,
}

impl Refusal {
    /// The answer as the API server words it for this HTTP status code. 429 comes with `Retry-After: 1`.
    #[must_use]
    pub fn new(code: u16) -> Self {
        let (reason, message) = match code {
            400 => ("BadRequest", "the request is malformed"),
            401 => ("Unauthorized", "Unauthorized"),
            403 => ("Forbidden", "this user may not do that"),
            404 => ("NotFound", "not found"),
            409 => {
                ("Conflict", "the object has been modified; please apply your changes to the latest version")
            }
            410 => ("Expired", "the provided resource version is too old"),
            422 => ("Invalid", "the object is invalid"),
            429 => ("TooManyRequests", "too many requests, please try again later"),
            500 => ("InternalError", "an error on the server has prevented the request from succeeding"),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => ("Timeout", "the server was unable to return a response in the time allotted"),
            _ => ("", "refused by the fault proxy"),
        };
        let retry_after = (code == 429).then_some(1);
        Self { code, reason, message: message.to_owned(), retry_after }
    }

    /// A create that finds the name taken: 409, like a conflict, but with its own reason.
    #[must_use]
    pub fn already_exists() -> Self {
        Self { reason: "AlreadyExists", message: "the object already exists".to_owned(), ..Self::new(409) }
    }

    /// With this text.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// With `Retry-After`, in whole seconds rounded up.
    #[must_use]
    pub fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after.as_secs() + u64::from(after.subsec_nanos() > 0));
        self
    }

    /// The HTTP status code.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The `Status` object.
    pub(super) fn status(&self) -> serde_json::Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if let (Some(seconds), Some(status)) = (self.retry_after, status.as_object_mut()) {
            status.insert("details".to_owned(), json!({ "retryAfterSeconds": seconds }));
        }
        status
    }

    pub(super) fn response(&self) -> Response<Body> {
        let mut response = Response::new(full(self.status().to_string()));
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
