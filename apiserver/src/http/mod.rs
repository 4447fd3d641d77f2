//! Requests and answers as the wire has them.

mod answer;
mod decode;
mod document;
mod list;
mod negotiate;
mod page;
mod patch;
mod path;
mod query;
mod read;
mod select;
mod write;

use bytes::Bytes;
use http::{HeaderMap, Method, header, request::Parts};

pub(crate) use answer::Answer;
pub use answer::AnswerBody;
pub(crate) use negotiate::{Answered, Form};
pub(crate) use select::Selector;

use crate::registry::Part;
use crate::service::Shared;
use crate::status::Refusal;
use negotiate::{About, form};
use path::{Place, Target};
use query::Query;
use std::sync::Arc;

/// The longest body that is read, in bytes.
pub(crate) const BODY_MAX: usize = 3 * 1024 * 1024;
/// The longest path and query that are looked at, in bytes.
const TARGET_MAX: usize = 64 * 1024;

/// A request, read to its end.
pub(crate) struct Request {
    method: Method,
    path: String,
    query: Query,
    headers: HeaderMap,
    body: Bytes,
}

impl Request {
    pub(crate) fn new(head: &Parts, body: Bytes) -> Self {
        let query = Query::parse(head.uri.query().unwrap_or_default());
        let path = head.uri.path().to_owned();
        Self { method: head.method.clone(), path, query, headers: head.headers.clone(), body }
    }

    fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The program that sends the request, by its own words.
    fn agent(&self) -> &str {
        let agent = self.header(header::USER_AGENT);
        let name = agent.split('/').next().unwrap_or_default();
        if name.is_empty() { "unknown" } else { name }
    }

    /// The manager of the fields that the request writes.
    fn manager<'a>(&'a self, named: &'a str) -> &'a str {
        if named.is_empty() { self.agent() } else { named }
    }
}

/// Answers a request. There is an answer to every one.
pub(crate) fn answer(shared: &Arc<Shared>, request: &Request) -> Answer {
    if request.path.len() > TARGET_MAX {
        return Answer::refusal(&Refusal::bad_request("the path is too long"), false);
    }
    let accept = request.header(header::ACCEPT);
    let result = match path::find(&shared.catalogue, &request.path) {
        Place::Objects(target) => form(accept, about(request, &target)).and_then(|form| {
            let included = request.query.get("includeObject");
            let answer = objects(shared, request, &target, form.including(included))?;
            // It is found out when everything is done.
            if answer.is_refusal() { Ok(answer) } else { negotiate::check(form, included).map(|()| answer) }
        }),
        Place::Garbled => Ok(Answer::text(400, "400 Bad Request")),
        Place::NoPart(kind, name) => Err(Refusal::not_found(&kind, &name)),
        // There is no document of version 2, in whichever form it is wanted: kubectl asks for Protocol Buffers only.
        Place::Document(parts) if parts.starts_with(&["openapi".to_owned(), "v2".to_owned()]) => {
            Ok(Answer::nowhere())
        }
        Place::Document(parts) => form(accept, About::Document).and_then(|form| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            document::answer(shared, &request.method, request.header(header::HOST), &parts, form)
        }),
        Place::NoResource => Err(Refusal::no_resource()),
        Place::Nowhere => Ok(Answer::nowhere()),
    };
    let head = request.method == Method::HEAD;
    result.unwrap_or_else(|refusal| Answer::refusal(&refusal, false)).without_body(head)
}

fn about(request: &Request, target: &Target) -> About {
    if target.kind.builtin {
        About::Builtin { all: target.name.is_empty() && request.method == Method::GET }
    } else {
        About::Custom
    }
}

fn objects(
    shared: &Arc<Shared>,
    request: &Request,
    target: &Target,
    form: Answered,
) -> Result<Answer, Refusal> {
    let one = !target.name.is_empty();
    let everywhere = target.kind.namespaced && target.namespace.is_empty();
    let custom = !target.kind.builtin;
    match request.method.as_str() {
        "HEAD" if !custom => Err(Refusal::method_not_allowed()),
        method if target.part == Part::Finalize && method != "PUT" => Err(Refusal::method_not_allowed()),
        "GET" | "HEAD" if one => read::one(shared, request, target, form),
        "GET" | "HEAD" => list::all(shared, request, target, form),
        _ if everywhere && custom => Ok(Answer::nowhere()),
        _ if everywhere => Err(Refusal::method_not_allowed()),
        "POST" if !one || (custom && target.part == Part::Main) => {
            write::create(shared, request, target, form)
        }
        "PUT" if one => write::replace(shared, request, target, form),
        "PATCH" if one => write::change(shared, request, target, form),
        "DELETE" if one && target.part == Part::Main => write::delete(shared, request, target, form),
        "DELETE" if !one => write::delete_all(shared, request, target, form),
        "PATCH" if custom => {
            patch::Format::of(&target.kind, request.header(header::CONTENT_TYPE)).and(Err(nameless()))
        }
        "PUT" if custom => Err(nameless()),
        method if custom => Err(Refusal::verb_not_supported(&target.kind, verb(method))),
        _ => Err(Refusal::method_not_allowed()),
    }
}

/// What Kubernetes calls a method; nothing if it does not know it.
fn verb(method: &str) -> &'static str {
    match method {
        "POST" => "create",
        "DELETE" => "delete",
        _ => "",
    }
}

fn nameless() -> Refusal {
    Refusal::bad_request("name must be provided")
}
