//! What goes into a Secret, and is never printed (I7).

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

/// The content of a Secret, by COSI's own keys. Debug shows the keys only; values are wiped from memory when dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretData(BTreeMap<String, Zeroizing<String>>);

impl SecretData {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.as_str())
    }

    /// Sets a value; an empty one is as good as none and is left out.
    pub fn set(&mut self, key: impl Into<String>, value: String) {
        let value = Zeroizing::new(value);
        if !value.is_empty() {
            self.0.insert(key.into(), value);
        }
    }

    /// All keys and values, for whoever writes the Secret.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i7_debug_shows_keys_and_never_values() {
        let mut data = SecretData::default();
        data.set("COSI_S3_ACCESS_SECRET_KEY", "canary".to_owned());
        data.set("COSI_S3_ACCESS_KEY_ID", String::new());
        let text = format!("{data:?} {data:#?}");
        assert!(text.contains("COSI_S3_ACCESS_SECRET_KEY") && !text.contains("canary"), "{text}");
        assert_eq!(data.get("COSI_S3_ACCESS_KEY_ID"), None);
    }
}
