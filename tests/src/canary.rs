//! Looking for a secret where none may be (I7).

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// A secret that got out.
#[derive(Debug, thiserror::Error)]
#[error("I7 is broken: a secret is in {place}, {form}: {line}")]
pub struct Leak {
    /// Where it was found.
    pub place: String,
    /// In which form.
    pub form: &'static str,
    /// The line that it was found in.
    pub line: String,
}

/// What to look for: a text that is part of every secret, and that text in disguise.
#[derive(Debug)]
pub struct Canary {
    needles: Vec<(&'static str, String)>,
}

impl Canary {
    /// Looks for `marker`, which must be long enough not to be anywhere by chance.
    #[must_use]
    pub fn new(marker: &str) -> Self {
        let mut needles =
            vec![("as it is", marker.to_owned()), ("in hex", hex(marker)), ("as bytes", bytes(marker))];
        needles.extend((0..3).map(|before| ("in base64", base64_within(marker, before))));
        Self { needles }
    }

    /// Looks through `text`.
    ///
    /// # Errors
    /// The first [`Leak`].
    pub fn search(&self, place: &str, text: &str) -> Result<(), Leak> {
        for (form, needle) in &self.needles {
            if let Some(line) = text.lines().find(|line| line.contains(needle.as_str())) {
                return Err(Leak { place: place.to_owned(), form, line: line.to_owned() });
            }
        }
        Ok(())
    }
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// As Debug prints a list of bytes.
fn bytes(text: &str) -> String {
    format!("{:?}", text.as_bytes()).trim_matches(['[', ']']).to_owned()
}

/// The part of the base64 of any longer text that depends on `text` alone, if as many bytes come before it (modulo 3).
fn base64_within(text: &str, before: usize) -> String {
    let encoded = BASE64_STANDARD.encode([vec![0; before], text.as_bytes().to_vec()].concat());
    let (start, end) = ((before * 8).div_ceil(6), (before + text.len()) * 8 / 6);
    encoded.get(start..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "c4n4ry-bird";

    fn found(text: &str) -> Option<&'static str> {
        Canary::new(MARKER).search("a text", text).err().map(|leak| leak.form)
    }

    #[test]
    fn a_text_without_the_secret_is_clean() {
        assert_eq!(found("nothing\nto see, c4n4ry-bir"), None);
    }

    #[test]
    fn the_secret_is_found_as_it_is_and_the_line_is_shown() {
        let leak = Canary::new(MARKER).search("the log", "one\nkey=c4n4ry-bird-7\nthree").unwrap_err();
        assert_eq!(leak.to_string(), "I7 is broken: a secret is in the log, as it is: key=c4n4ry-bird-7");
    }

    #[test]
    fn the_secret_is_found_in_base64_wherever_it_stands_in_the_encoded_text() {
        for before in ["", "x", "xy", "xyz", "{\"data\": \""] {
            for after in ["", "z", "zz", "-and-more"] {
                let encoded = BASE64_STANDARD.encode(format!("{before}{MARKER}{after}"));
                assert_eq!(found(&format!("body: {encoded}")), Some("in base64"), "{before}|{after}");
            }
        }
    }

    #[test]
    fn the_secret_is_found_in_debug_output_of_bytes_and_in_hex() {
        assert_eq!(found(&format!("{:?}", b"key=c4n4ry-bird-7".to_vec())), Some("as bytes"));
        assert_eq!(found(&hex("key=c4n4ry-bird-7")), Some("in hex"));
    }
}
