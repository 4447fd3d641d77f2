//! What Go's reader says of a document that is no JSON.

use crate::schema::print;

/// Values within values that are looked at. The reader of documents itself gives up earlier.
const DEPTH_MAX: usize = 200;

/// What is wrong with `text`, which was refused by the reader of documents.
pub(crate) fn complaint(text: &[u8]) -> String {
    let mut scan = Scan { text, at: 0, large: None };
    let found = scan.value(0).and_then(|()| match scan.skip() {
        None => Ok(()),
        Some(_) => scan.fault("after top-level value"),
    });
    found.err().or(scan.large).unwrap_or_else(|| "exceeded max depth".to_owned())
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// What is said of the first number that is too large to be read. Faults are told before that.
    large: Option<String>,
}

type Found = Result<(), String>;

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The next byte that is no space.
    fn skip(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    /// The byte that comes next does not belong there.
    fn fault(&self, place: &str) -> Found {
        let Some(byte) = self.peek() else { return Err("unexpected end of JSON input".to_owned()) };
        let quoted = match byte {
            b'\'' => r"\'".to_owned(),
            b'"' => "\"".to_owned(),
            other => print::quoted(&char::from(other).to_string()).trim_matches('"').to_owned(),
        };
        Err(format!("invalid character '{quoted}' {place}"))
    }

    /// Takes a byte that must come next.
    fn take(&mut self, fits: impl Fn(u8) -> bool, place: &str) -> Found {
        if self.peek().is_some_and(fits) {
            self.at += 1;
            return Ok(());
        }
        self.fault(place)
    }

    fn value(&mut self, depth: usize) -> Found {
        match self.skip() {
            Some(b'{' | b'[') if depth == DEPTH_MAX => Err("exceeded max depth".to_owned()),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.fault("looking for beginning of value"),
        }
    }

    fn object(&mut self, depth: usize) -> Found {
        self.at += 1;
        if self.skip() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.skip() != Some(b'"') {
                return self.fault("looking for beginning of object key string");
            }
            self.string()?;
            self.skip();
            self.take(|byte| byte == b':', "after object key")?;
            self.value(depth + 1)?;
            let last = self.skip() == Some(b'}');
            self.take(|byte| byte == b',' || byte == b'}', "after object key:value pair")?;
            if last {
                return Ok(());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Found {
        self.at += 1;
        if self.skip() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            let last = self.skip() == Some(b']');
            self.take(|byte| byte == b',' || byte == b']', "after array element")?;
            if last {
                return Ok(());
            }
        }
    }

    fn string(&mut self) -> Found {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(b' '..) => self.at += 1,
                _ => return self.fault("in string literal"),
            }
        }
    }

    fn escape(&mut self) -> Found {
        self.at += 1;
        let digits = self.peek() == Some(b'u');
        self.take(|byte| br#"bfnrt\/"u"#.contains(&byte), "in string escape code")?;
        for _ in 0..if digits { 4 } else { 0 } {
            self.take(|byte| byte.is_ascii_hexdigit(), "in \\u hexadecimal character escape")?;
        }
        Ok(())
    }

    fn number(&mut self) -> Found {
        let start = self.at;
        self.digits_of_number()?;
        let number = self.text.get(start..self.at).map(String::from_utf8_lossy).unwrap_or_default();
        if self.large.is_none() && number.parse().is_ok_and(f64::is_infinite) {
            self.large =
                Some(format!("json: cannot unmarshal number {number} into Go value of type float64"));
        }
        Ok(())
    }

    fn digits_of_number(&mut self) -> Found {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn digits(&mut self, place: &str) -> Found {
        self.take(|byte| byte.is_ascii_digit(), place)?;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn literal(&mut self, word: &str) -> Found {
        for letter in word.chars() {
            let place = format!("in literal {word} (expecting '{letter}')");
            self.take(|byte| char::from(byte) == letter, &place)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_refused_in_the_words_of_go() {
        for (text, wanted) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\":", "unexpected end of JSON input"),
            ("\"a", "unexpected end of JSON input"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("a", "invalid character 'a' looking for beginning of value"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("[1 2]", "invalid character '2' after array element"),
            ("nonsense", "invalid character 'o' in literal null (expecting 'u')"),
            ("{a", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\",", "invalid character ',' after object key"),
            ("{\"a\":1;", "invalid character ';' after object key:value pair"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1e'", "invalid character '\\'' in exponent of numeric literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u00g", "invalid character 'g' in \\u hexadecimal character escape"),
            ("\"\n", "invalid character '\\n' in string literal"),
        ] {
            assert_eq!(complaint(text.as_bytes()), wanted, "{text}");
        }
        let large = "json: cannot unmarshal number 1e999 into Go value of type float64";
        assert_eq!(complaint(b"[1e999]"), large);
        assert_eq!(complaint("[".repeat(100_000).as_bytes()), "exceeded max depth");
    }
}
