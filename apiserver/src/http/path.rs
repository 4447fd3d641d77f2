//! What a path names.

use std::sync::Arc;

use percent_encoding::percent_decode_str;

use crate::registry::{Part, Strategy};
use crate::schema::{Catalogue, Kind};

/// Objects, or one object, of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) kind: Arc<Kind>,
    /// Empty for cluster-wide kinds, and for a namespaced kind in all namespaces.
    pub(crate) namespace: String,
    /// Empty for all objects.
    pub(crate) name: String,
    pub(crate) part: Part,
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// To objects.
    Objects(Target),
    /// To an object that this kind has no such part of.
    NoPart(Arc<Kind>, String),
    /// To a document that is no object: these are the path's parts.
    Document(Vec<String>),
    /// Nowhere that could be read: a `%` stands before something else than two digits.
    Garbled,
    /// Nowhere in a group that is built in, which is told by a Status.
    NoResource,
    /// Nowhere.
    Nowhere,
}

/// The parts of a path, decoded. A slash that is encoded separates parts, too. `None` if it is no text.
fn parts(path: &str) -> Option<Vec<String>> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let trimmed = decoded.strip_prefix('/')?;
    let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
    Some(trimmed.split('/').map(str::to_owned).collect())
}

fn is_garbled(path: &str) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    path.split('%').skip(1).any(|after| {
        let after = after.as_bytes();
        !is_digit(after.first()) || !is_digit(after.get(1))
    })
}

/// Finds out where `path` leads.
pub(crate) fn find(catalogue: &Catalogue, path: &str) -> Place {
    if is_garbled(path) {
        return Place::Garbled;
    }
    let Some(parts) = parts(path) else { return Place::Nowhere };
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => in_group(catalogue, "", version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => in_group(catalogue, group, version, rest),
        _ => Place::Document(parts.iter().map(|part| (*part).to_owned()).collect()),
    }
}

fn in_group(catalogue: &Catalogue, group: &str, version: &str, rest: &[&str]) -> Place {
    let built_in = group.is_empty()
        || catalogue
            .kinds()
            .iter()
            .any(|kind| kind.builtin && kind.group == group && kind.version == version);
    let nowhere = if built_in { Place::NoResource } else { Place::Nowhere };
    let find = |plural: &str| catalogue.find(group, version, plural).cloned();
    match rest {
        // Namespaces are objects themselves, and folders of others.
        ["namespaces", name, part @ ("status" | "finalize")] if group.is_empty() => {
            find("namespaces").map_or(nowhere, |kind| object(kind, "", name, &[part]))
        }
        ["namespaces", namespace, plural, rest @ ..] => match find(plural) {
            Some(kind) if kind.namespaced => match rest {
                [] => all(kind, namespace),
                [name, rest @ ..] => object(kind, namespace, name, rest),
            },
            _ => nowhere,
        },
        [plural] => find(plural).map_or(nowhere, |kind| all(kind, "")),
        [plural, name, rest @ ..] => match find(plural) {
            Some(kind) if !kind.namespaced => object(kind, "", name, rest),
            _ => nowhere,
        },
        [] => nowhere,
    }
}

fn all(kind: Arc<Kind>, namespace: &str) -> Place {
    Place::Objects(Target { kind, namespace: namespace.to_owned(), name: String::new(), part: Part::Main })
}

fn object(kind: Arc<Kind>, namespace: &str, name: &str, rest: &[&str]) -> Place {
    let is_namespace = Strategy::of(&kind) == Strategy::Namespace;
    // The servers of custom kinds overlook all slashes at the end.
    if !kind.builtin && name.is_empty() && rest.iter().all(|part| part.is_empty()) {
        return all(kind, namespace);
    }
    let part = match rest {
        [] => Part::Main,
        ["status"] if kind.status => Part::Status,
        // What comes after it, the servers of custom kinds do not look at.
        ["status", ..] if kind.status && !kind.builtin => Part::Status,
        ["finalize"] if is_namespace => Part::Finalize,
        _ if kind.builtin => return Place::NoResource,
        _ => return Place::NoPart(kind, name.to_owned()),
    };
    if name.is_empty() {
        // The servers of custom kinds see no more in it than the path of all objects.
        return if kind.builtin { Place::NoResource } else { all(kind, namespace) };
    }
    Place::Objects(Target { kind, namespace: namespace.to_owned(), name: name.to_owned(), part })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> String {
        match find(&Catalogue::new().unwrap(), path) {
            Place::Objects(Target { kind, namespace, name, part }) => {
                format!("{}|{namespace}|{name}|{}", kind.plural, part.name())
            }
            Place::NoPart(kind, name) => format!("no part of {} {name}", kind.plural),
            Place::Document(parts) => format!("document {}", parts.join(",")),
            Place::Garbled => "garbled".to_owned(),
            Place::NoResource => "no resource".to_owned(),
            Place::Nowhere => "nowhere".to_owned(),
        }
    }

    #[test]
    fn paths_lead_to_objects() {
        const COSI: &str = "/apis/objectstorage.k8s.io/v1alpha2";
        for (path, wanted) in [
            ("/api/v1/secrets".to_owned(), "secrets|||"),
            ("/api/v1/namespaces/a/secrets/b".to_owned(), "secrets|a|b|"),
            ("/api/v1/namespaces/a/secrets/".to_owned(), "secrets|a||"),
            ("/api/v1/namespaces/a".to_owned(), "namespaces||a|"),
            ("/api/v1/namespaces/a/finalize".to_owned(), "namespaces||a|finalize"),
            (format!("{COSI}/buckets/b/status"), "buckets||b|status"),
            (format!("{COSI}/namespaces/n/bucketclaims/c/status"), "bucketclaims|n|c|status"),
            (format!("{COSI}/buckets/a%20b"), "buckets||a b|"),
            (format!("{COSI}/buckets//"), "buckets|||"),
        ] {
            assert_eq!(place(&path), wanted, "{path}");
        }
    }

    #[test]
    fn tricks_lead_nowhere() {
        const COSI: &str = "/apis/objectstorage.k8s.io/v1alpha2";
        for (path, wanted) in [
            ("/api/v1/foos".to_owned(), "no resource"),
            ("/api//v1/secrets".to_owned(), "no resource"),
            ("/api/v1/../v1/secrets".to_owned(), "no resource"),
            ("/api/v1/namespaces/a/secrets/b/c".to_owned(), "no resource"),
            ("/api/v1/namespaces/a/secrets/b%2fc".to_owned(), "no resource"),
            (format!("{COSI}/foos"), "nowhere"),
            (format!("{COSI}/buckets/a/b/c"), "no part of buckets a"),
            (format!("{COSI}/buckets/a%2fb"), "no part of buckets a"),
            (format!("{COSI}/namespaces/n/buckets"), "nowhere"),
            (format!("{COSI}/bucketclaims/a"), "nowhere"),
            ("/%ff".to_owned(), "nowhere"),
            (format!("{COSI}/buckets/%"), "garbled"),
            (format!("{COSI}/buckets/%2x"), "garbled"),
            (String::new(), "nowhere"),
            ("*".to_owned(), "nowhere"),
            ("/".to_owned(), "document "),
        ] {
            assert_eq!(place(&path), wanted, "{path}");
        }
    }
}
