//! An answer on its way out.

use std::borrow::Cow;
use std::convert::Infallible;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use serde::Serialize;

use crate::status::Refusal;

/// The body of an answer: of known length, or a stream of changes that ends when the watch does.
pub type AnswerBody = UnsyncBoxBody<Bytes, Infallible>;

/// An answer, not yet in HTTP's words.
pub(crate) struct Answer {
    code: u16,
    content_type: Cow<'static, str>,
    body: Content,
    warnings: Vec<String>,
    retry_after: Option<u64>,
}

enum Content {
    Whole(Bytes),
    Stream(BoxStream<'static, Bytes>),
}

impl Answer {
    fn new(code: u16, content_type: &'static str, body: Content) -> Self {
        Self {
            code,
            content_type: Cow::Borrowed(content_type),
            body,
            warnings: Vec::new(),
            retry_after: None,
        }
    }

    /// An object or another document.
    pub(crate) fn value(code: u16, value: &impl Serialize, yaml: bool) -> Self {
        let yaml_text = if yaml { serde_saphyr::to_string(value).ok() } else { None };
        if let Some(text) = yaml_text {
            return Self::new(code, "application/yaml", Content::Whole(text.into()));
        }
        // Keys are texts, so that everything that is shown can be written.
        let text = serde_json::to_vec(value).unwrap_or_default();
        Self::new(code, "application/json", Content::Whole(text.into()))
    }

    /// Text for people.
    pub(crate) fn text(code: u16, text: &'static str) -> Self {
        Self::new(code, "text/plain; charset=utf-8", Content::Whole(Bytes::from_static(text.as_bytes())))
    }

    /// The page that is shown where no path leads.
    pub(crate) fn nowhere() -> Self {
        Self::text(404, "404 page not found\n")
    }

    /// A request that is refused.
    pub(crate) fn refusal(refusal: &Refusal, yaml: bool) -> Self {
        let mut answer = Self::value(refusal.code(), &refusal.status(), yaml);
        answer.retry_after = refusal.retry_after();
        answer
    }

    /// Whether the request was refused.
    pub(crate) fn is_refusal(&self) -> bool {
        self.code >= 400
    }

    /// Changes, as they come.
    pub(crate) fn stream(changes: BoxStream<'static, Bytes>) -> Self {
        Self::new(200, "application/json", Content::Stream(changes))
    }

    /// With another content type than that of its form.
    pub(crate) fn content_type(mut self, content_type: String) -> Self {
        self.content_type = Cow::Owned(content_type);
        self
    }

    /// With what the client should know though nothing is refused.
    pub(crate) fn warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }

    /// For a HEAD request.
    pub(crate) fn without_body(mut self, head: bool) -> Self {
        if head {
            self.body = Content::Whole(Bytes::new());
        }
        self
    }

    pub(crate) fn into_response(self) -> Response<AnswerBody> {
        let body = match self.body {
            Content::Whole(bytes) => Full::new(bytes).boxed_unsync(),
            Content::Stream(changes) => {
                StreamBody::new(changes.map(|bytes| Ok(Frame::data(bytes)))).boxed_unsync()
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if let Ok(content_type) = HeaderValue::from_str(&self.content_type) {
            headers.insert(header::CONTENT_TYPE, content_type);
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        if self.content_type.starts_with("text/") {
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let mut told: Vec<&String> = Vec::new();
        for warning in &self.warnings {
            if !told.contains(&warning) {
                told.push(warning);
                let escaped = warning.replace('\\', "\\\\").replace('"', "\\\"");
                if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{escaped}\"")) {
                    headers.append(header::WARNING, value);
                }
            }
        }
        response
    }
}
