//! What a request asks for, in the words of RBAC.

use std::fmt;

use bytes::Bytes;
use serde_json::Value;

/// The verbs of Kubernetes' authorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read a collection.
    List,
    /// Follow a collection or one object.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH.
    Patch,
    /// Delete one object.
    Delete,
    /// Delete a collection.
    DeleteCollection,
}

impl Verb {
    /// Whether the verb changes something.
    #[must_use]
    pub fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }

    /// The verb as RBAC writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One request as the proxy saw it. Parts that a request doesn't have are empty.
#[derive(Clone)]
pub struct Request {
    /// What is done.
    pub verb: Verb,
    /// API group; empty for the core group.
    pub group: String,
    /// Plural resource name, such as `buckets`; empty for paths like `/version`.
    pub resource: String,
    /// Such as `status`.
    pub subresource: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object; for a create, the name in the body.
    pub name: String,
    /// Path and query as sent.
    pub uri: String,
    /// The body as sent.
    pub body: Bytes,
}

impl Request {
    pub(super) fn new(method: &http::Method, uri: &http::Uri, body: Bytes) -> Self {
        let path = Path::parse(uri.path());
        let query = uri.query().unwrap_or_default();
        let mut name = path.name.to_owned();
        let verb = match method.as_str() {
            "POST" => Verb::Create,
            "PUT" => Verb::Update,
            "PATCH" => Verb::Patch,
            "DELETE" if name.is_empty() => Verb::DeleteCollection,
            "DELETE" => Verb::Delete,
            _ if has(query, "watch", &["true", "1"]) => Verb::Watch,
            _ if name.is_empty() && !path.resource.is_empty() => Verb::List,
            _ => Verb::Get,
        };
        if verb == Verb::Create && name.is_empty() {
            name = name_in(&body);
        }
        Self {
            verb,
            group: path.group.to_owned(),
            resource: path.resource.to_owned(),
            subresource: path.subresource.to_owned(),
            namespace: path.namespace.to_owned(),
            name,
            uri: uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            body,
        }
    }

    /// The body as JSON; `null` if it isn't any.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Whether the client starts over: a list, or a watch that sends the present objects first.
    pub(super) fn is_relist(&self) -> bool {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        let streams_all =
            has(query, "sendInitialEvents", &["true", "1"]) || !query.contains("resourceVersion=");
        self.verb == Verb::List || (self.verb == Verb::Watch && streams_all)
    }

    /// Resource and subresource, as RBAC writes them: `buckets/status`.
    #[must_use]
    pub fn target(&self) -> String {
        match (self.resource.as_str(), self.subresource.as_str()) {
            ("", _) => self.uri.clone(),
            (resource, "") => resource.to_owned(),
            (resource, subresource) => format!("{resource}/{subresource}"),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6} {}", self.verb, self.target())?;
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => Ok(()),
            ("", name) => write!(f, " {name}"),
            (namespace, name) => write!(f, " {namespace}/{name}"),
        }
    }
}

/// As Display: bodies may hold credentials.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn has(query: &str, key: &str, values: &[&str]) -> bool {
    query.split('&').filter_map(|pair| pair.split_once('=')).any(|(k, v)| k == key && values.contains(&v))
}

fn name_in(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[derive(Default)]
struct Path<'a> {
    group: &'a str,
    resource: &'a str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl<'a> Path<'a> {
    fn parse(path: &'a str) -> Self {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, rest) = match parts.as_slice() {
            ["api", _version, rest @ ..] => ("", rest),
            ["apis", group, _version, rest @ ..] => (*group, rest),
            _ => return Self::default(),
        };
        let (namespace, rest) = match rest {
            // `namespaces/x/status` is about the namespace itself, `namespaces/x/secrets` about what is in it.
            ["namespaces", _, "status" | "finalize", ..] => ("", rest),
            ["namespaces", namespace, inner @ ..] if !inner.is_empty() => (*namespace, inner),
            _ => ("", rest),
        };
        let part = |n: usize| rest.get(n).copied().unwrap_or_default();
        Self { group, namespace, resource: part(0), name: part(1), subresource: part(2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(method: &str, uri: &str) -> String {
        let body = Bytes::from_static(br#"{"metadata":{"name":"in-body"}}"#);
        Request::new(&method.parse().unwrap(), &uri.parse().unwrap(), body).to_string()
    }

    #[test]
    fn every_verb_is_told_from_method_path_and_query() {
        let buckets = "/apis/objectstorage.k8s.io/v1alpha2/buckets";
        for (method, uri, expected) in [
            ("GET", format!("{buckets}/b?x=1"), "get    buckets b"),
            ("GET", format!("{buckets}?limit=5"), "list   buckets"),
            ("GET", format!("{buckets}?watch=true&resourceVersion=5"), "watch  buckets"),
            ("GET", format!("{buckets}?watch=1"), "watch  buckets"),
            ("POST", buckets.to_owned(), "create buckets in-body"),
            ("PUT", format!("{buckets}/b"), "update buckets b"),
            ("PATCH", format!("{buckets}/b/status?fieldManager=x"), "patch  buckets/status b"),
            ("DELETE", format!("{buckets}/b"), "delete buckets b"),
            ("DELETE", buckets.to_owned(), "deletecollection buckets"),
            ("GET", "/version".to_owned(), "get    /version"),
            ("GET", "/api/v1/namespaces/n".to_owned(), "get    namespaces n"),
            ("PUT", "/api/v1/namespaces/n/finalize".to_owned(), "update namespaces/finalize n"),
            ("PATCH", "/api/v1/namespaces/n/secrets/s".to_owned(), "patch  secrets n/s"),
            ("POST", "/api/v1/namespaces/n/events".to_owned(), "create events n/in-body"),
        ] {
            assert_eq!(seen(method, &uri), expected, "{method} {uri}");
        }
    }

    #[test]
    fn the_body_is_never_printed() {
        let request =
            Request::new(&http::Method::PATCH, &"/x".parse().unwrap(), Bytes::from_static(b"canary"));
        assert!(!format!("{request:?} {request}").contains("canary"));
    }
}
