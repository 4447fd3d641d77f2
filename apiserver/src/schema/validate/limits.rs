//! The limits to one value: how long, how many, which.

use super::form::Place;
use super::{Cause, CauseReason, Node};
use crate::schema::node::Limits;
use crate::schema::print;
use serde_json::Value;

/// Adds the limits that a value breaks.
pub(super) fn check(node: &Node, at: Place<'_>, value: &Value, causes: &mut Vec<Cause>) {
    let limits = &node.limits;
    match value {
        Value::String(text) => {
            causes.extend(text_fault(limits, at, text));
            causes.extend(format_fault(limits, at, text));
        }
        Value::Number(_) => causes.extend(range_fault(limits, at, value)),
        Value::Array(items) => item_faults(limits, at, items.len(), causes),
        Value::Object(fields) => property_faults(limits, at, fields.len(), causes),
        Value::Null | Value::Bool(_) => {}
    }
    if !limits.choices.is_empty() && !limits.choices.contains(value) {
        causes.push(Cause::not_supported(at.field(), value, &limits.choices));
    }
}

/// The first thing that is wrong with a text.
fn text_fault(limits: &Limits, at: Place<'_>, text: &str) -> Option<Cause> {
    let length = text.chars().count() as u64;
    if let Some(max) = limits.max_length.filter(|max| length > *max) {
        return Some(Cause::too_long(at.field(), max));
    }
    let shown = || Value::from(text);
    if let Some(min) = limits.min_length.filter(|min| length < *min) {
        return Some(at.invalid(&shown(), &format!("should be at least {min} chars long")));
    }
    let pattern = limits.pattern.as_ref().filter(|pattern| !pattern.is_match(text))?;
    Some(at.invalid(&shown(), &format!("should match '{pattern}'")))
}

fn format_fault(limits: &Limits, at: Place<'_>, text: &str) -> Option<Cause> {
    let format = limits.format.as_deref().filter(|format| *format == "date-time")?;
    if is_date_time(text) {
        return None;
    }
    let detail = format!("{} in body must be of type {format}: {}", at.name, print::quoted(text));
    Some(Cause::with_value(CauseReason::TypeInvalid, at.field(), &Value::from(text), &detail))
}

fn range_fault(limits: &Limits, at: Place<'_>, value: &Value) -> Option<Cause> {
    let format = limits.format.as_deref().filter(|format| *format == "int32")?;
    if value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) {
        return None;
    }
    let name = at.name;
    let detail = format!("Checked value must be of type integer with format {format} in {name}");
    Some(Cause::invalid("", &Value::from(""), &detail))
}

fn item_faults(limits: &Limits, at: Place<'_>, count: usize, causes: &mut Vec<Cause>) {
    if let Some(min) = limits.min_items.filter(|min| (count as u64) < *min) {
        causes.push(at.invalid(&Value::from(count), &format!("should have at least {min} items")));
    }
    if let Some(max) = limits.max_items.filter(|max| (count as u64) > *max) {
        causes.push(Cause::too_many(at.field(), count, max));
    }
}

fn property_faults(limits: &Limits, at: Place<'_>, count: usize, causes: &mut Vec<Cause>) {
    if let Some(min) = limits.min_properties.filter(|min| (count as u64) < *min) {
        causes.push(at.invalid(&Value::from(count), &format!("should have at least {min} properties")));
    }
    if let Some(max) = limits.max_properties.filter(|max| (count as u64) > *max) {
        causes.push(Cause::too_many(at.field(), count, max));
    }
}

/// Whether a text is a date and a time of day, with the time zone optional in neither. The API server is lax about the
/// fraction's separator, and so is this.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some((date, rest)) = lower.split_once('t') else { return false };
    let time = rest.split('t').next().unwrap_or_default();
    date.len() == 10 && date.parse::<jiff::civil::Date>().is_ok() && is_time_of_day(time)
}

fn is_time_of_day(text: &str) -> bool {
    let two = |at: usize, max: u8| {
        text.get(at..at + 2)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
            .and_then(|digits| digits.parse::<u8>().ok())
            .is_some_and(|number| number <= max)
    };
    let colon = |at: usize| text.get(at..=at) == Some(":");
    if !(two(0, 23) && colon(2) && two(3, 59) && colon(5) && two(6, 59)) {
        return false;
    }
    let rest = text.get(8..).unwrap_or_default();
    is_zone(rest) || is_fraction_and_zone(rest)
}

/// One character of any kind, digits, and the zone.
fn is_fraction_and_zone(rest: &str) -> bool {
    let mut chars = rest.chars();
    let Some(separator) = chars.next() else { return false };
    let digits = chars.as_str();
    let zone = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    separator != '\n' && zone.len() < digits.len() && is_zone(zone)
}

fn is_zone(text: &str) -> bool {
    let digits = |part: Option<&str>| part.is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()));
    text == "z"
        || (text.len() == 6
            && text.starts_with(['+', '-'])
            && digits(text.get(1..3))
            && text.get(3..4) == Some(":")
            && digits(text.get(4..6)))
}
