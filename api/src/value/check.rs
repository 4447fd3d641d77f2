//! The rules behind the value types. The CRDs take their limits from here.

/// Most characters in a bucket id or account id.
pub(crate) const MAX_ID: usize = 2048;
/// Most characters in a driver name.
pub(crate) const MAX_DRIVER_NAME: usize = 63;
/// Most characters in the name of a Kubernetes object.
pub(crate) const MAX_NAME: usize = 253;

/// Why a text can't be the value that it was given as. The text itself is not repeated: it may be very long, or full
/// of characters that garble a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidValue {
    /// Nothing there.
    #[error("the {what} is empty")]
    Empty {
        /// What was to be made.
        what: &'static str,
    },
    /// Too many characters.
    #[error("the {what} has {length} characters, but at most {max} are allowed")]
    TooLong {
        /// What was to be made.
        what: &'static str,
        /// How long it is, in characters.
        length: usize,
        /// How long it may be, in characters.
        max: usize,
    },
    /// A character that may not stand there.
    #[error("the {what} has {found:?} at position {position}, where only {allowed} can stand")]
    Character {
        /// What was to be made.
        what: &'static str,
        /// The offending character.
        found: char,
        /// Where it is, in characters, counted from 1.
        position: usize,
        /// What can stand there.
        allowed: &'static str,
    },
    /// Two dots in a row, or one at an end.
    #[error("the {what} has nothing before, after, or between its dots (at position {position})")]
    EmptyLabel {
        /// What was to be made.
        what: &'static str,
        /// Where a label is missing, in characters, counted from 1.
        position: usize,
    },
}

/// A bucket id or account id.
pub(super) fn id(what: &'static str, text: &str) -> Result<(), InvalidValue> {
    length(what, text, MAX_ID)?;
    let allowed = "letters, digits, '/', '.', '_' and '-'";
    each_is(what, text, 1, allowed, |c| c.is_ascii_alphanumeric() || "/._-".contains(c))
}

/// The name of a Kubernetes object: a DNS-1123 subdomain.
pub(super) fn resource_name(what: &'static str, text: &str) -> Result<(), InvalidValue> {
    length(what, text, MAX_NAME)?;
    let allowed = "a lower-case letter or a digit";
    labels(what, text, allowed, |c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// A driver's name: RFC 1035 labels.
pub(super) fn driver_name(what: &'static str, text: &str) -> Result<(), InvalidValue> {
    length(what, text, MAX_DRIVER_NAME)?;
    labels(what, text, "a lower-case letter", |c| c.is_ascii_lowercase())
}

fn length(what: &'static str, text: &str, max: usize) -> Result<(), InvalidValue> {
    match text.chars().count() {
        0 => Err(InvalidValue::Empty { what }),
        length if length > max => Err(InvalidValue::TooLong { what, length, max }),
        _ => Ok(()),
    }
}

/// Checks labels joined by dots: the first character as given, the last a letter or digit, `-` allowed in between.
fn labels(
    what: &'static str,
    text: &str,
    first_allowed: &'static str,
    first: fn(char) -> bool,
) -> Result<(), InvalidValue> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut position = 1;
    for label in text.split('.') {
        let (Some(head), Some(last)) = (label.chars().next(), label.chars().last()) else {
            return Err(InvalidValue::EmptyLabel { what, position });
        };
        if !first(head) {
            return Err(InvalidValue::Character { what, found: head, position, allowed: first_allowed });
        }
        each_is(what, label, position, "lower-case letters, digits, '-' and '.'", inner)?;
        let end = position + label.chars().count();
        if last == '-' {
            let allowed = "a lower-case letter or a digit";
            return Err(InvalidValue::Character { what, found: last, position: end - 1, allowed });
        }
        position = end + 1;
    }
    Ok(())
}

/// Checks that each character fits; `from` is the position of the first.
fn each_is(
    what: &'static str,
    text: &str,
    from: usize,
    allowed: &'static str,
    fits: impl Fn(char) -> bool,
) -> Result<(), InvalidValue> {
    match text.chars().zip(from..).find(|(c, _)| !fits(*c)) {
        Some((found, position)) => Err(InvalidValue::Character { what, found, position, allowed }),
        None => Ok(()),
    }
}
