//! Which requests a rule or a count is about.

use std::fmt;
use std::sync::Arc;

use super::request::{Request, Verb};
use crate::rule::Window;

type Filter = Arc<dyn Fn(&Request) -> bool + Send + Sync>;

/// A set of requests: by verb, resource, name, or anything else.
///
/// A resource is written as in RBAC: `buckets` is the object itself, `buckets/status` the subresource,
/// `buckets/*` both. Without [`nth`](Match::nth), [`first`](Match::first) or [`from_nth`](Match::from_nth) a rule acts
/// on every match; counts ignore these three.
#[derive(Clone, Default)]
pub struct Match {
    verbs: Vec<Verb>,
    target: Option<String>,
    name: Option<String>,
    filter: Option<Filter>,
    window: Window,
}

impl Match {
    /// Every request.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Every request that changes something.
    #[must_use]
    pub fn writes() -> Self {
        use Verb::{Create, Delete, DeleteCollection, Patch, Update};
        Self::verbs(&[Create, Update, Patch, Delete, DeleteCollection])
    }

    /// Every get, list and watch.
    #[must_use]
    pub fn reads() -> Self {
        Self::verbs(&[Verb::Get, Verb::List, Verb::Watch])
    }

    /// Changes of an object that exists: update or patch, whichever the client prefers.
    #[must_use]
    pub fn change(target: &str) -> Self {
        Self::verbs(&[Verb::Update, Verb::Patch]).on(target)
    }

    /// Reads of one object.
    #[must_use]
    pub fn get(target: &str) -> Self {
        Self::verbs(&[Verb::Get]).on(target)
    }

    /// Reads of a collection.
    #[must_use]
    pub fn list(target: &str) -> Self {
        Self::verbs(&[Verb::List]).on(target)
    }

    /// Watches.
    #[must_use]
    pub fn watch(target: &str) -> Self {
        Self::verbs(&[Verb::Watch]).on(target)
    }

    /// Creates.
    #[must_use]
    pub fn create(target: &str) -> Self {
        Self::verbs(&[Verb::Create]).on(target)
    }

    /// Updates (PUT).
    #[must_use]
    pub fn update(target: &str) -> Self {
        Self::verbs(&[Verb::Update]).on(target)
    }

    /// Patches.
    #[must_use]
    pub fn patch(target: &str) -> Self {
        Self::verbs(&[Verb::Patch]).on(target)
    }

    /// Deletes of one object.
    #[must_use]
    pub fn delete(target: &str) -> Self {
        Self::verbs(&[Verb::Delete]).on(target)
    }

    fn verbs(verbs: &[Verb]) -> Self {
        Self { verbs: verbs.to_vec(), ..Self::default() }
    }

    /// Only on this resource.
    #[must_use]
    pub fn on(mut self, target: &str) -> Self {
        self.target = Some(target.to_owned());
        self
    }

    /// Only for the object of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Only if the closure says so, which may look at the body.
    #[must_use]
    pub fn filter(mut self, filter: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// Only the n-th match, counted from 1 since the rule was made.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.window = Window::nth(n);
        self
    }

    /// Only the first n matches since the rule was made.
    #[must_use]
    pub fn first(mut self, n: u64) -> Self {
        self.window = Window::first(n);
        self
    }

    /// From the n-th match on, counted from 1 since the rule was made.
    #[must_use]
    pub fn from_nth(mut self, n: u64) -> Self {
        self.window = Window::from(n);
        self
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// Whether the request is in the set.
    #[must_use]
    pub fn matches(&self, request: &Request) -> bool {
        (self.verbs.is_empty() || self.verbs.contains(&request.verb))
            && self.target.as_deref().is_none_or(|target| is_on(target, request))
            && self.name.as_deref().is_none_or(|name| name == request.name)
            && self.filter.as_ref().is_none_or(|filter| filter(request))
    }
}

fn is_on(target: &str, request: &Request) -> bool {
    match target.split_once('/') {
        None => target == request.resource && request.subresource.is_empty(),
        Some((resource, "*")) => resource == request.resource,
        Some((resource, subresource)) => resource == request.resource && subresource == request.subresource,
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verbs: Vec<&str> = self.verbs.iter().map(|verb| verb.as_str()).collect();
        let verbs = if verbs.is_empty() { "any".to_owned() } else { verbs.join("|") };
        let target = self.target.as_deref().unwrap_or("anything");
        write!(f, "{verbs} {target}")?;
        self.name.as_deref().map_or(Ok(()), |name| write!(f, " {name}"))
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Match({self}, {:?})", self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn request(method: &str, path: &str) -> Request {
        let uri = format!("/apis/objectstorage.k8s.io/v1alpha2/{path}").parse().unwrap();
        Request::new(&method.parse().unwrap(), &uri, Bytes::from_static(b"{\"status\":{}}"))
    }

    #[test]
    fn a_resource_matches_as_in_rbac() {
        let status = request("PATCH", "buckets/b/status");
        let object = request("PATCH", "buckets/b");
        assert!(
            Match::patch("buckets/status").matches(&status)
                && !Match::patch("buckets/status").matches(&object)
        );
        assert!(Match::patch("buckets").matches(&object) && !Match::patch("buckets").matches(&status));
        assert!(Match::patch("buckets/*").matches(&object) && Match::patch("buckets/*").matches(&status));
        assert!(!Match::patch("bucketclaims/*").matches(&object));
    }

    #[test]
    fn verb_name_and_filter_must_all_agree() {
        let status = request("PATCH", "buckets/b/status");
        assert!(Match::writes().named("b").matches(&status));
        assert!(!Match::writes().named("other").matches(&status));
        assert!(!Match::reads().matches(&status));
        assert!(
            Match::change("buckets/status").filter(|r| r.json().get("status").is_some()).matches(&status)
        );
        assert!(!Match::any().filter(|r| r.json().get("metadata").is_some()).matches(&status));
    }
}
