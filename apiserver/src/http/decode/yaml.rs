//! YAML, of which JSON is a part.

use serde_json::Value;

use super::json::{self, Twice};

/// Reads the first document. In JSON, keys may come twice, as in [`json::parse`].
///
/// # Errors
/// What is wrong with it, in the words of Go's reader where those are easily known.
pub(crate) fn parse(text: &[u8]) -> Result<(Value, Vec<Twice>), String> {
    if let Ok(parsed) = json::parse(text) {
        return Ok(parsed);
    }
    // What comes after the first document is not looked at.
    if let Some(first) = first(text) {
        return Ok((first, Vec::new()));
    }
    serde_saphyr::from_slice::<Value>(text).map(|value| (value, Vec::new())).map_err(|error| {
        let why = error.to_string();
        if why.contains("unclosed bracket") {
            let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            return format!("line {lines}: did not find expected node content");
        }
        why.lines().next().unwrap_or_default().to_owned()
    })
}

/// A list or an object in brackets that has something after it.
fn first(text: &[u8]) -> Option<Value> {
    let first = serde_json::Deserializer::from_slice(text).into_iter::<Value>().next()?;
    first.ok().filter(|value| value.is_object() || value.is_array())
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::json;

    #[test]
    fn the_first_document_is_read_in_either_form() {
        for (text, wanted) in [
            ("a: b", json!({ "a": "b" })),
            ("{\"a\": 1}", json!({ "a": 1 })),
            ("{} {}", json!({})),
            ("", json!(null)),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().0, wanted, "{text}");
        }
        assert_eq!(parse(b"a: 1\nb: [\n").unwrap_err(), "line 2: did not find expected node content");
    }
}
