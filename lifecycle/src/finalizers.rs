//! Our finalizer among those of others.

use cosi_api::names::FINALIZER;

/// Whether ours is there, and the others, which every write keeps as they are (I4).
#[must_use]
pub fn split_finalizers(all: Option<&[String]>) -> (bool, Box<[Box<str>]>) {
    let all = all.unwrap_or_default();
    let others = all.iter().filter(|f| *f != FINALIZER).map(|f| f.as_str().into()).collect();
    (all.iter().any(|f| f == FINALIZER), others)
}

/// All of `others`, without ours.
pub(crate) fn without_ours(others: &[Box<str>]) -> Vec<String> {
    others.iter().map(ToString::to_string).collect()
}

/// All of `others`, and ours, in an order that leaves theirs as it is.
pub(crate) fn with_ours(others: &[Box<str>]) -> Vec<String> {
    let mut all = without_ours(others);
    all.push(FINALIZER.to_owned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_told_from_the_others_and_theirs_stay_in_their_order() {
        let all = ["b/b".to_owned(), FINALIZER.to_owned(), "a/a".to_owned()];
        let (ours, others) = split_finalizers(Some(&all));
        assert!(ours);
        assert_eq!(without_ours(&others), ["b/b", "a/a"]);
        assert_eq!(with_ours(&others), ["b/b", "a/a", FINALIZER]);
        assert_eq!(split_finalizers(None), (false, [].into()));
    }
}
