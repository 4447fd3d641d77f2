//! The driver's own parameters, from a class.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::DriverError;

/// Key-value pairs whose meaning is the driver's own. At most 4096 bytes, keys and values together. Debug output shows the
/// keys only: people put secrets into values (COSI-SECRET-2).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// The value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All pairs, ordered by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses what the driver doesn't know (COSI-CREATE-5).
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` that names every key that is not in `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), DriverError> {
        let unknown: Vec<_> = self.0.keys().filter(|key| !known.contains(&key.as_str())).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(DriverError::invalid_argument(format!("unknown parameters {unknown:?}; known are {known:?}")))
    }
}

impl fmt::Debug for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl From<BTreeMap<String, String>> for Parameters {
    fn from(pairs: BTreeMap<String, String>) -> Self {
        Self(pairs)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn an_unknown_parameter_is_named_and_its_value_is_not() {
        let parameters: Parameters = [("known", "1"), ("tpyo", "canary")].into_iter().collect();
        let error = parameters.only(&["known"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains("tpyo"));
        assert!(!error.message().contains("canary"));
        assert_eq!(parameters.only(&["known", "tpyo"]), Ok(()));
    }

    #[test]
    fn debug_output_has_keys_but_no_values() {
        let parameters: Parameters = [("key", "canary")].into_iter().collect();
        assert_eq!(format!("{parameters:?}"), r#"{"key"}"#);
    }
}
