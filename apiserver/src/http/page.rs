//! The token with which a list is continued.

use base64::DecodeError;
use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use serde::Serialize;
use serde_json::Value;

use super::decode::scan;
use crate::schema::print;
use crate::status::Refusal;

/// Where a list goes on: after which key, and in which revision of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Token {
    #[serde(rename = "v")]
    version: String,
    pub(crate) rv: i64,
    pub(crate) start: String,
}

/// Go does not look at the bits that are left over in the last symbol.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

const VERSION: &str = "meta.k8s.io/v1";

impl Token {
    pub(crate) fn new(rv: u64, after: &str) -> Self {
        // There are never so many writes.
        let rv = i64::try_from(rv).unwrap_or(i64::MAX);
        Self { version: VERSION.to_owned(), rv, start: format!("{after}\0") }
    }

    pub(crate) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads a token. A negative revision means the newest.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let wrong = |why: String| {
            Refusal::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = LENIENT
            .decode(text)
            .map_err(|error| wrong(format!("illegal base64 data at input byte {}", place(&error, text))))?;
        let read: Value = serde_json::from_slice(&bytes).map_err(|_| wrong(scan::complaint(&bytes)))?;
        let token = Self::of(&read).map_err(wrong)?;
        if token.version != VERSION {
            return Err(wrong(format!("server does not recognize this encoded version {}", token.version)));
        }
        if token.rv == 0 {
            return Err(wrong(format!("incorrect encoded start resourceVersion (version {VERSION})")));
        }
        if token.start.is_empty() {
            return Err(wrong(format!("encoded start key empty (version {VERSION})")));
        }
        if token.start.split('/').any(|part| ["", ".", ".."].contains(&part)) {
            return Err(wrong(token.start));
        }
        Ok(token)
    }

    fn of(read: &Value) -> Result<Self, String> {
        let found = print::type_name(read);
        if !read.is_object() && !read.is_null() {
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type storage.continueToken"
            ));
        }
        let odd = |name: &str, value: &Value, wanted: &str| {
            let found = print::type_name(value);
            format!(
                "json: cannot unmarshal {found} into Go struct field continueToken.{name} of type {wanted}"
            )
        };
        let text = |name: &str| match read.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(value) => value.as_str().map(str::to_owned).ok_or_else(|| odd(name, value, "string")),
        };
        let rv = match read.get("rv") {
            None | Some(Value::Null) => 0,
            Some(value) => value.as_i64().ok_or_else(|| odd("rv", value, "int64"))?,
        };
        Ok(Self { version: text("v")?, rv, start: text("start")? })
    }
}

/// Where the fault is.
fn place(error: &DecodeError, text: &str) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol(at, _) => *at,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len() - text.len() % 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_nothing_else_is_a_token() {
        let token = Token::new(7, "default/a");
        assert_eq!(Token::parse(&token.text()), Ok(token));
        for (text, wanted) in [
            ("", "unexpected end of JSON input"),
            ("xx", "invalid character 'Ç' looking for beginning of value"),
            ("e30", "server does not recognize this encoded version "),
            ("!", "illegal base64 data at input byte 0"),
            ("abcde", "illegal base64 data at input byte 4"),
            ("W10", "json: cannot unmarshal array into Go value of type storage.continueToken"),
            (
                "eyJ2IjoxfQ",
                "json: cannot unmarshal number into Go struct field continueToken.v of type string",
            ),
        ] {
            let refusal = Token::parse(text).unwrap_err().to_string();
            assert_eq!(refusal, format!("invalid continue token: continue key is not valid: {wanted}"));
        }
    }
}
