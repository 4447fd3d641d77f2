//! A set of paths.

use super::element::Element;
use super::schema::Schema;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The mark of a path that ends where others go on.
const ITSELF: &str = ".";

/// A set of paths, as a tree. A path may end where others go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    members: BTreeSet<Element>,
    children: BTreeMap<Element, Set>,
}

impl Set {
    /// Adds a path. The empty one, which is the object itself, isn't tracked.
    pub(super) fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => drop(self.members.insert(last.clone())),
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// Whether the path of this one step is in it.
    pub(super) fn has(&self, element: &Element) -> bool {
        self.members.contains(element)
    }

    /// The paths that begin with this step, without it.
    pub(super) fn under(&self, element: &Element) -> Option<&Set> {
        self.children.get(element).filter(|set| !set.is_empty())
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.members.extend(other.members.iter().cloned());
        for (element, set) in &other.children {
            let joined = all.children.get(element).map_or_else(|| set.clone(), |mine| mine.union(set));
            all.children.insert(element.clone(), joined);
        }
        all
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let both = |(element, set): (&Element, &Self)| {
            let shared = set.intersection(other.children.get(element)?);
            (!shared.is_empty()).then(|| (element.clone(), shared))
        };
        Self { members, children: self.children.iter().filter_map(both).collect() }
    }

    /// The paths that aren't in the other set.
    pub(super) fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let rest = |(element, set): (&Element, &Self)| {
            let rest = other.children.get(element).map_or_else(|| set.clone(), |gone| set.difference(gone));
            (!rest.is_empty()).then(|| (element.clone(), rest))
        };
        Self { members, children: self.children.iter().filter_map(rest).collect() }
    }

    /// The paths that neither are in the other set nor begin with one that is.
    pub(super) fn without(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let rest = |(element, set): (&Element, &Self)| {
            if other.has(element) {
                return None;
            }
            let rest = other.children.get(element).map_or_else(|| set.clone(), |gone| set.without(gone));
            (!rest.is_empty()).then(|| (element.clone(), rest))
        };
        Self { members, children: self.children.iter().filter_map(rest).collect() }
    }

    /// With the fields of structures that paths lead through as paths of their own.
    pub(super) fn with_named_fields(&self, schema: Schema<'_>) -> Self {
        let mut set = Self { members: self.members.clone(), children: BTreeMap::new() };
        for (element, inner) in &self.children {
            if let Element::Field(name) = element
                && schema.declares(name)
            {
                set.members.insert(element.clone());
            }
            set.children.insert(element.clone(), inner.with_named_fields(schema.step(element)));
        }
        set
    }

    /// All paths, those that end here first.
    pub(super) fn paths(&self) -> Vec<Vec<Element>> {
        let here = self.members.iter().map(|element| vec![element.clone()]);
        let below = self.children.iter().flat_map(|(element, set)| {
            set.paths().into_iter().map(move |mut path| {
                path.insert(0, element.clone());
                path
            })
        });
        here.chain(below).collect()
    }

    /// As `fieldsV1` has it.
    pub(super) fn encode(&self) -> Value {
        let mut fields = Map::new();
        for element in &self.members {
            fields.insert(element.encoded(), Value::Object(Map::new()));
        }
        for (element, set) in &self.children {
            let Value::Object(mut inner) = set.encode() else { continue };
            if self.members.contains(element) {
                inner.insert(ITSELF.to_owned(), Value::Object(Map::new()));
            }
            fields.insert(element.encoded(), Value::Object(inner));
        }
        Value::Object(fields)
    }

    /// Reads what [`encode`](Self::encode) wrote. None if it is something else.
    pub(super) fn decode(fields: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (name, inner) in fields.as_object()? {
            if name == ITSELF {
                continue;
            }
            let element = Element::decode(name)?;
            let inner_fields = inner.as_object()?;
            if inner_fields.is_empty() || inner_fields.contains_key(ITSELF) {
                set.members.insert(element.clone());
            }
            let below = Self::decode(inner)?;
            if !below.is_empty() {
                set.children.insert(element, below);
            }
        }
        Some(set)
    }
}

/// A path as messages show it.
pub(super) fn shown(path: &[Element]) -> String {
    path.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn sets() -> impl Strategy<Value = Set> {
        let element = prop_oneof![
            "[ab]".prop_map(Element::Field),
            "[ab]".prop_map(|text| Element::Value(Value::from(text).to_string())),
            "[ab]".prop_map(|text| Element::Key(json!({ "name": text }).to_string())),
        ];
        let paths = prop::collection::vec(prop::collection::vec(element, 1..4), 0..6);
        paths.prop_map(|paths| {
            let mut set = Set::default();
            for path in &paths {
                set.insert(path);
            }
            set
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(set in sets()) {
            prop_assert_eq!(Set::decode(&set.encode()), Some(set));
        }

        #[test]
        fn a_set_is_what_it_shares_with_another_and_what_it_does_not(one in sets(), other in sets()) {
            let shared = one.intersection(&other);
            let rest = one.difference(&other);
            prop_assert!(shared.intersection(&rest).is_empty());
            prop_assert_eq!(shared.union(&rest).encode(), one.encode());
        }
    }

    #[test]
    fn a_path_that_ends_where_others_go_on_has_a_mark() {
        let written =
            json!({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } }, "f:x": { "v:\"S3\"": {} } });
        assert_eq!(Set::decode(&written).unwrap().encode(), written);
        assert_eq!(Set::decode(&json!({ "x": {} })), None);
    }
}
