//! How values look in messages: as the API server, which is written in Go, prints them.

use serde_json::{Number, Value};
use std::fmt::Write as _;

/// A value in a message: texts quoted, numbers bare, the rest as JSON.
#[must_use]
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) => self::number(number),
        other => json(other),
    }
}

/// One of the values that an enumeration allows.
#[must_use]
pub fn choice(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => quoted(&json(other)),
    }
}

/// A text in double quotes, with what can't be printed escaped.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        escape(&mut out, c);
    }
    out.push('"');
    out
}

/// The word for a value's type where Go could not read it.
#[must_use]
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A key in a field's path: `parameters[a]`.
#[must_use]
pub fn key(path: &str, key: &str) -> String {
    format!("{path}[{key}]")
}

/// A field in a field's path: `spec.driverName`.
#[must_use]
pub fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// An item in a field's path: `protocols[0]`.
#[must_use]
pub fn index(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// JSON, with the characters escaped that mean something in HTML.
#[must_use]
pub fn json(value: &Value) -> String {
    let plain = match value {
        Value::Number(number) => return self::number(number),
        other => other.to_string(),
    };
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// A value as Go shows one in passing: `map[a:1 b:[x y]]`.
#[must_use]
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Number(number) => self::number(number),
        Value::String(text) => text.clone(),
        Value::Bool(truth) => truth.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let entries: Vec<String> =
                fields.iter().map(|(name, field)| format!("{name}:{}", shown(field))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// A value as one would write it in Go.
#[must_use]
pub fn source(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Number(number) => self::number(number),
        Value::String(text) => quoted(text),
        Value::Bool(truth) => truth.to_string(),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(source).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let entries: Vec<String> =
                fields.iter().map(|(name, field)| format!("{}:{}", quoted(name), source(field))).collect();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}

fn number(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    if float != 0.0 && !(1e-4..1e21).contains(&float.abs()) {
        let text = format!("{float:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    float.to_string()
}

fn escape(out: &mut String, c: char) {
    let short = match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        _ => "",
    };
    let code = u32::from(c);
    let _ = match () {
        () if !short.is_empty() => write!(out, "{short}"),
        () if code < 0x20 || code == 0x7f => write!(out, "\\x{code:02x}"),
        () if is_printable(c) => write!(out, "{c}"),
        () if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
        () => write!(out, "\\U{code:08x}"),
    };
}

/// Rust's own debug form escapes what can't be printed. The letter before keeps it from escaping accents, too.
fn is_printable(c: char) -> bool {
    c.is_ascii() || !format!("{:?}", format!("a{c}")).contains('\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn a_value_can_be_shown_in_passing_and_as_source() {
        let value = json!({ "b": { "c": ["x", 1, null] }, "a": true });
        assert_eq!(shown(&value), "map[a:true b:map[c:[x 1 <nil>]]]");
        assert_eq!(
            source(&value),
            r#"map[string]interface {}{"a":true, "b":map[string]interface {}{"c":[]interface {}{"x", 1, interface {}(nil)}}}"#
        );
    }

    #[rstest]
    #[case(json!("a\"b\\c\n\u{0}\u{7f}é\u{200b}"), r#""a\"b\\c\n\x00\x7fé\u200b""#)]
    #[case(json!(5), "5")]
    #[case(json!(1.5), "1.5")]
    #[case(json!(2.0), "2")]
    #[case(json!(1e21), "1e+21")]
    #[case(json!(0.00001), "1e-05")]
    #[case(json!(true), "true")]
    #[case(json!(null), "null")]
    #[case(json!({ "b": 1, "a": ["<&>"] }), r#"{"a":["\u003c\u0026\u003e"],"b":1}"#)]
    fn a_value_looks_as_the_api_server_prints_it(#[case] given: Value, #[case] expected: &str) {
        assert_eq!(value(&given), expected);
    }
}
