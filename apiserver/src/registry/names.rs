//! What names, labels and keys may look like, with the words in which an API server says what is wrong.

use std::sync::LazyLock;

use regex::Regex;

const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const NAME_PART: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const CONFIG_KEY: &str = "[-._a-zA-Z0-9]+";

fn whole(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("^(?:{pattern})$")).ok()
}

static SUBDOMAIN_FORM: LazyLock<Option<Regex>> = LazyLock::new(|| whole(SUBDOMAIN));
static LABEL_FORM: LazyLock<Option<Regex>> = LazyLock::new(|| whole(LABEL));
static NAME_PART_FORM: LazyLock<Option<Regex>> = LazyLock::new(|| whole(NAME_PART));
static LABEL_VALUE_FORM: LazyLock<Option<Regex>> = LazyLock::new(|| whole(LABEL_VALUE));
static CONFIG_KEY_FORM: LazyLock<Option<Regex>> = LazyLock::new(|| whole(CONFIG_KEY));

/// Only a pattern that cannot be compiled would be missing, and a test shows that all can.
fn fits(form: &LazyLock<Option<Regex>>, text: &str) -> bool {
    form.as_ref().is_some_and(|form| form.is_match(text))
}

fn too_long(max: usize) -> String {
    format!("must be no more than {max} bytes")
}

fn subdomain_rule() -> String {
    format!(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{SUBDOMAIN}')"
    )
}

/// What is wrong with a DNS-1123 subdomain.
pub(crate) fn subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push("must be no more than 253 characters".to_owned());
    }
    if !fits(&SUBDOMAIN_FORM, text) {
        wrong.push(subdomain_rule());
    }
    wrong
}

/// What is wrong with a DNS-1123 label.
pub(crate) fn label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !fits(&LABEL_FORM, text) && fits(&SUBDOMAIN_FORM, text) {
        wrong.push("must not contain dots".to_owned());
    } else if !fits(&LABEL_FORM, text) {
        wrong.push(format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
        ));
    }
    wrong
}

/// What a check of names says of `text` when a suffix is still to come: a `-` at its end is no fault then.
pub(crate) fn as_prefix(check: fn(&str) -> Vec<String>, text: &str) -> Vec<String> {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => check(&format!("{rest}a")),
        _ => check(text),
    }
}

/// What is wrong with a name as a part of a path.
pub(crate) fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    let bad = ['/', '%'].into_iter().filter(|bad| text.contains(*bad));
    bad.map(|bad| format!("may not contain '{bad}'")).collect()
}

/// What is wrong with a name that may have a domain before it: the key of a label, a finalizer.
pub(crate) fn qualified(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('/').collect();
    let rule = format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME_PART}')"
    );
    let mut wrong = Vec::new();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(subdomain(prefix).into_iter().map(|text| format!("prefix part {text}")));
            }
            *name
        }
        _ => {
            return vec![format!(
                "a qualified name {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push(format!("name part {}", too_long(63)));
    }
    if !fits(&NAME_PART_FORM, name) {
        wrong.push(format!("name part {rule}"));
    }
    wrong
}

/// What is wrong with the value of a label.
pub(crate) fn label_value(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push(too_long(63));
    }
    if !fits(&LABEL_VALUE_FORM, text) {
        wrong.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{LABEL_VALUE}')"
        ));
    }
    wrong
}

/// What is wrong with a key of a Secret's data.
pub(crate) fn config_key(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push(too_long(253));
    }
    if !fits(&CONFIG_KEY_FORM, text) {
        wrong.push(format!(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '{CONFIG_KEY}')"
        ));
    }
    if text == "." {
        wrong.push("must not be '.'".to_owned());
    } else if text == ".." {
        wrong.push("must not be '..'".to_owned());
    } else if text.starts_with("..") {
        wrong.push("must not start with '..'".to_owned());
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_kubernetes_takes_have_no_fault() {
        assert!(subdomain("a.b-c.0").is_empty() && subdomain(&"a".repeat(253)).is_empty());
        assert!(label("a-0").is_empty() && label(&"a".repeat(63)).is_empty());
        assert!(qualified("a.b/C_d.e").is_empty() && qualified("X").is_empty());
        assert!(label_value("").is_empty() && label_value("A_b.c").is_empty());
        assert!(config_key("A._-9").is_empty());
        assert!(as_prefix(subdomain, "a-").is_empty() && !as_prefix(subdomain, "A-").is_empty());
    }

    #[test]
    fn names_that_kubernetes_refuses_have_one() {
        for name in ["", "A", "a_b", "-a", "a.", "a..b", "a\n"] {
            assert_eq!(subdomain(name).len(), 1, "{name:?}");
        }
        assert_eq!(subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
        assert_eq!(label("a.b").len(), 1);
        for name in ["", "/a", "a/", "a/b/c", "A/b", "a b", "-a"] {
            assert!(!qualified(name).is_empty(), "{name:?}");
        }
        assert_eq!(label_value("a b").len(), 1);
        assert_eq!(config_key("..a"), ["must not start with '..'"]);
        assert_eq!(path_segment("a/b%"), ["may not contain '/'", "may not contain '%'"]);
    }
}
