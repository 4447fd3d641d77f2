//! Secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::super::{meta, names};
use crate::schema::{Cause, print};

/// The most bytes that all values may have together.
const SIZE_MAX: u64 = 1024 * 1024;

/// Takes over `stringData`, and fills in the type.
pub(super) fn complete(object: &mut Value) {
    let Some(object) = object.as_object_mut() else { return };
    if let Some(Value::Object(texts)) = object.remove("stringData") {
        let data = object.entry("data").or_insert_with(|| Value::Object(Map::new()));
        if let Some(data) = data.as_object_mut() {
            for (key, text) in texts {
                let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
                data.insert(key, Value::from(encoded));
            }
        }
    }
    object.entry("type").or_insert_with(|| Value::from("Opaque"));
}

/// Whether there is nothing where bytes should be. That is stored as such, and read as no bytes.
pub(super) fn has_null(sent: &Value) -> bool {
    let map = |field: &str| sent.get(field).and_then(Value::as_object);
    let covered = |key: &String| map("stringData").is_some_and(|texts| texts.contains_key(key));
    map("data").into_iter().flatten().any(|(key, value)| value.is_null() && !covered(key))
}

fn data(object: &Value) -> impl Iterator<Item = (&String, &str)> {
    let entries = object.get("data").and_then(Value::as_object).into_iter().flatten();
    entries.map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

pub(super) fn check(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for (key, value) in data(object) {
        let wrong = names::config_key(key).into_iter();
        causes.extend(
            wrong.map(|text| Cause::invalid(print::key("data", key), &Value::from(key.as_str()), &text)),
        );
        size += value.len() / 4 * 3 - value.bytes().rev().take(2).filter(|byte| *byte == b'=').count();
    }
    if u64::try_from(size).is_ok_and(|size| size > SIZE_MAX) {
        causes.push(Cause::too_long("data", SIZE_MAX));
    }
    causes.extend(check_type(object));
    causes
}

/// What the well-known types demand.
fn check_type(object: &Value) -> Vec<Cause> {
    let has = |key: &str| data(object).any(|(found, _)| found == key);
    let missing = |key: &str| Cause::required(print::key("data", key), "");
    match object.get("type").and_then(Value::as_str).unwrap_or_default() {
        "kubernetes.io/service-account-token" => {
            let name = "kubernetes.io/service-account.name";
            let annotations = meta::field(object, "annotations").and_then(|all| all.get(name));
            let named = annotations.and_then(Value::as_str).is_some_and(|name| !name.is_empty());
            if named { vec![] } else { vec![Cause::required(print::key("metadata.annotations", name), "")] }
        }
        "kubernetes.io/dockercfg" => docker(object, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => docker(object, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            vec![missing("username"), missing("password")]
        }
        "kubernetes.io/ssh-auth" => {
            let filled = data(object).any(|(key, value)| key == "ssh-privatekey" && !value.is_empty());
            if filled { vec![] } else { vec![missing("ssh-privatekey")] }
        }
        "kubernetes.io/tls" => {
            ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)).map(missing).collect()
        }
        _ => vec![],
    }
}

/// The value must be there, and be a JSON object.
fn docker(object: &Value, key: &str) -> Vec<Cause> {
    let Some((_, value)) = data(object).find(|(found, _)| *found == key) else {
        return vec![Cause::required(print::key("data", key), "")];
    };
    let decoded = STANDARD.decode(value).unwrap_or_default();
    if serde_json::from_slice::<Map<String, Value>>(&decoded).is_ok() {
        return vec![];
    }
    let hidden = Value::from("<secret contents redacted>");
    vec![Cause::invalid(print::key("data", key), &hidden, "unexpected end of JSON input")]
}

pub(super) fn check_update(new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let kind = |object: &Value| object.get("type").cloned().unwrap_or_else(|| Value::from(""));
    if kind(new) != kind(old) {
        causes.push(Cause::invalid("type", &kind(new), "field is immutable"));
    }
    let fixed = |object: &Value| object.get("immutable") == Some(&Value::Bool(true));
    if fixed(old) {
        let detail = "field is immutable when `immutable` is set";
        if !fixed(new) {
            causes.push(Cause::forbidden("immutable", detail));
        }
        if new.get("data") != old.get("data") {
            causes.push(Cause::forbidden("data", detail));
        }
    }
    causes
}
