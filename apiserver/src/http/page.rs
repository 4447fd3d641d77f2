//! The token with which a list is continued.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::scan;
use crate::status::Refusal;

/// Where a list goes on: after which key, and in which revision of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    #[serde(rename = "v")]
    version: String,
    pub(crate) rv: u64,
    pub(crate) start: String,
}

const VERSION: &str = "meta.k8s.io/v1";

impl Token {
    pub(crate) fn new(rv: u64, after: &str) -> Self {
        Self { version: VERSION.to_owned(), rv, start: format!("{after}\0") }
    }

    pub(crate) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let wrong = |why: &str| {
            Refusal::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong("illegal base64 data at input byte 0"))?;
        let token: Self = serde_json::from_slice(&bytes).map_err(|_| wrong(&scan::complaint(&bytes)))?;
        if token.version == VERSION {
            Ok(token)
        } else {
            Err(wrong("server does not recognize this encoded version"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_nothing_else_is_a_token() {
        let token = Token::new(7, "default/a");
        assert_eq!(Token::parse(&token.text()), Ok(token));
        for text in ["", "xx", "e30", "!"] {
            assert!(Token::parse(text).is_err(), "{text}");
        }
    }
}
