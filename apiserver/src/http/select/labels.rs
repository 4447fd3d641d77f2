//! Label selectors, read as Kubernetes reads them: the same are refused, with the same words.

use super::Label;
use crate::registry::names;
use crate::schema::print;

/// The signs and words between a label and its value.
const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// A piece of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
    End,
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Sign(sign) => sign,
            Self::End => "",
        }
    }
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

fn tokens(text: &str) -> Vec<Token> {
    const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
    let mut rest = text.trim_start_matches(is_space);
    let mut found = Vec::new();
    while !rest.is_empty() {
        let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
        let length = match sign {
            Some(sign) => sign.len(),
            None => rest.find(|c| is_space(c) || "=!(),><".contains(c)).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(length);
        found.push(sign.map_or_else(|| Token::Word(piece.to_owned()), Token::Sign));
        rest = after.trim_start_matches(is_space);
    }
    found.push(Token::End);
    found
}

/// Reads a selector.
pub(super) fn parse(text: &str) -> Result<Vec<Label>, String> {
    let mut reader = Reader { tokens: tokens(text), at: 0 };
    let mut labels = Vec::new();
    loop {
        match reader.ahead() {
            Token::Word(_) | Token::Sign("!") => {}
            Token::End => return Ok(labels),
            Token::Sign(sign) => {
                return Err(format!("found '{sign}', expected: !, identifier, or 'end of string'"));
            }
        }
        let label = reader.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?;
        labels.push(label);
        match reader.next() {
            Token::End => return Ok(labels),
            Token::Sign(",") => match reader.ahead() {
                Token::Word(_) | Token::Sign("!") => {}
                other => return Err(format!("found '{}', expected: identifier after ','", other.text())),
            },
            other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.text())),
        }
    }
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn ahead(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.ahead().clone();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Label, String> {
        let mut token = self.next();
        let missing = token == Token::Sign("!");
        if missing {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(format!("found '{}', expected: identifier", token.text()));
        };
        checked("<nil>", &key, &names::qualified(&key))?;
        if missing {
            return Ok(Label::Missing(key));
        }
        if matches!(self.ahead(), Token::End | Token::Sign(",")) {
            return Ok(Label::Exists(key));
        }
        let operator = self.next();
        match operator.text() {
            "in" => Ok(Label::In(key.clone(), self.values(&key)?)),
            "notin" => Ok(Label::NotIn(key.clone(), self.values(&key)?)),
            "=" | "==" => Ok(Label::In(key.clone(), vec![self.value(&key)?])),
            "!=" => Ok(Label::NotIn(key.clone(), vec![self.value(&key)?])),
            ">" => self.bound().map(|bound| Label::Above(key, bound)),
            "<" => self.bound().map(|bound| Label::Below(key, bound)),
            other => Err(format!("found '{other}', expected: {OPERATORS}")),
        }
    }

    fn value(&mut self, key: &str) -> Result<String, String> {
        let value = self.exact()?;
        checked(&format!("values[0][{key}]"), &value, &names::label_value(&value))?;
        Ok(value)
    }

    fn bound(&mut self) -> Result<i64, String> {
        let value = self.exact()?;
        value.parse().map_err(|_| {
            let quoted = print::quoted(&value);
            format!(
                "values[0]: Invalid value: {quoted}: for 'Gt', 'Lt' operators, the value must be an integer"
            )
        })
    }

    fn exact(&mut self) -> Result<String, String> {
        if matches!(self.ahead(), Token::End | Token::Sign(",")) {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(word) => Ok(word),
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    /// The values in parentheses, in order and each once.
    fn values(&mut self, key: &str) -> Result<Vec<String>, String> {
        let open = self.next();
        if open != Token::Sign("(") {
            return Err(format!("found '{}' expected: '('", open.text()));
        }
        let mut values = match self.ahead() {
            Token::Word(_) | Token::Sign(",") => self.identifiers()?,
            Token::Sign(")") => vec![String::new()],
            other => return Err(format!("found '{}', expected: ',', ')' or identifier", other.text())),
        };
        self.next();
        values.sort_unstable();
        values.dedup();
        for (at, value) in values.iter().enumerate() {
            checked(&format!("values[{at}][{key}]"), value, &names::label_value(value))?;
        }
        Ok(values)
    }

    /// What is separated by commas, up to the closing parenthesis. Nothing between two commas is an empty value.
    fn identifiers(&mut self) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        loop {
            match self.next() {
                Token::Word(word) => {
                    values.push(word);
                    match self.ahead() {
                        Token::Sign(",") => {}
                        Token::Sign(")") => return Ok(values),
                        other => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
                    }
                }
                Token::Sign(",") => {
                    let closes = self.ahead() == &Token::Sign(")");
                    if values.is_empty() || closes || self.ahead() == &Token::Sign(",") {
                        values.push(String::new());
                    }
                    if closes {
                        return Ok(values);
                    }
                }
                other => return Err(format!("found '{}', expected: ',', or identifier", other.text())),
            }
        }
    }
}

fn checked(field: &str, value: &str, wrong: &[String]) -> Result<(), String> {
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{field}: Invalid value: {}: {}", print::quoted(value), wrong.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_is_no_selector_is_told_as_kubernetes_tells_it() {
        for (selector, wanted) in [
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("app=bad value", "found 'value', expected: ',' or 'end of string'"),
            ("app in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
            ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("x=1,,", "found ',', expected: identifier after ','"),
            ("=a", "found '=', expected: !, identifier, or 'end of string'"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("a=(", "unable to parse requirement: found '(', expected: identifier"),
            (
                "a>b",
                "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
        ] {
            assert_eq!(parse(selector).unwrap_err(), wanted, "{selector}");
        }
    }
}
