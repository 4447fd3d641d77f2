//! Conditions on fields.

/// Reads a selector: each condition is a field, a value, and whether they must be equal.
///
/// # Errors
/// What is wrong with it, in a real server's words.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String, bool)>, String> {
    let mut pieces = pieces(text);
    pieces.sort_unstable();
    let terms = pieces.into_iter().filter(|piece| !piece.is_empty());
    terms
        .map(|piece| {
            let (field, value, equal) = term(piece)
                .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{piece}'"))?;
            Ok((field.to_owned(), unescaped(value)?, equal))
        })
        .collect()
}

/// What stands between commas, but for those that are escaped.
fn pieces(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|letter| {
        let separates = letter == ',' && !escaped;
        escaped = letter == '\\' && !escaped;
        separates
    })
    .collect()
}

/// Field, value, and whether they must be equal.
fn term(piece: &str) -> Option<(&str, &str, bool)> {
    let at = piece.char_indices().map(|(at, _)| at).find(|at| {
        let rest = piece.get(*at..).unwrap_or_default();
        rest.starts_with("!=") || rest.starts_with('=')
    })?;
    let (field, rest) = piece.split_at(at);
    if let Some(value) = rest.strip_prefix("!=") {
        return Some((field, value, false));
    }
    let value = rest.strip_prefix("==").or_else(|| rest.strip_prefix('='))?;
    Some((field, value, true))
}

fn unescaped(value: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(special @ ('\\' | ',' | '=')) => plain.push(special),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
                }
            },
            ',' | '=' => {
                let code = u32::from(letter);
                return Err(format!("invalid field selector: unescaped character in value: {code}"));
            }
            plain_letter => plain.push(plain_letter),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn conditions_are_read_in_their_alphabetical_order() {
        let term = |field: &str, value: &str, equal| (field.to_owned(), value.to_owned(), equal);
        let wanted = [term("a", "x,y=z\\", true), term("b", "", false), term("c", "d", true)];
        assert_eq!(parse("c==d,,b!=,a=x\\,y\\=z\\\\").unwrap(), wanted);
    }

    #[test]
    fn what_is_no_condition_is_told_as_kubernetes_tells_it() {
        for (selector, wanted) in [
            ("a=1,b", "invalid selector: 'a=1,b'; can't understand 'b'"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
            ("a=\\b", "invalid field selector: invalid escape sequence: \\b"),
            ("a=\\", "invalid field selector: invalid escape sequence: \\"),
        ] {
            assert_eq!(parse(selector).unwrap_err(), wanted, "{selector}");
        }
    }
}
