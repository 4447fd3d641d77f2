//! Values that are not parsed but put from one structure into another: a real server does that with what a strategic
//! patch or a server-side apply made. Numbers are cut to fit, and what doesn't fit is told in other words.

use super::read::go_type;
use super::{ReadError, Shape};
use crate::schema::print;
use serde_json::{Number, Value};

/// A number in a field for whole ones: only its lowest bits are kept. None if it is no whole one.
pub(super) fn whole(shape: &Shape, number: &Number) -> Option<Value> {
    let whole = number.as_i64().or_else(|| number.as_f64().and_then(of_float))?;
    let [first, second, third, fourth, ..] = whole.to_le_bytes();
    Some(match shape {
        Shape::Byte => Value::from(first),
        Shape::Int32 => Value::from(i32::from_le_bytes([first, second, third, fourth])),
        _ => Value::from(whole),
    })
}

/// What doesn't fit into 64 bits becomes the least of all, as processors have it.
#[allow(
    clippy::cast_possible_truncation,
    reason = "whole numbers within the bounds of the type lose nothing"
)]
fn of_float(float: f64) -> Option<i64> {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    let fits = (-BOUND..BOUND).contains(&float);
    (float.fract() == 0.0).then_some(if fits { float as i64 } else { i64::MIN })
}

/// What is said of a value of another type.
pub(super) fn mismatch(shape: &Shape, value: &Value) -> ReadError {
    let (found, wanted) = (go_kind(value), go_type(shape));
    ReadError::Unfit(match shape {
        Shape::Text(_) if found == "int64" => format!("cannot convert {found} to {wanted}"),
        Shape::Int32 | Shape::Int64 | Shape::Byte if found == "float64" => {
            format!("cannot convert {found} to {wanted}")
        }
        Shape::Text(_) => "unrecognized type: string".to_owned(),
        Shape::Bool | Shape::Int32 | Shape::Int64 | Shape::Byte => format!("unrecognized type: {wanted}"),
        Shape::Time | Shape::MicroTime | Shape::Raw => {
            let found = print::type_name(value);
            format!("json: cannot unmarshal {found} into Go value of type {wanted}")
        }
        Shape::Map(_) => format!("cannot restore map from {found}"),
        Shape::List(..) | Shape::Bytes => format!("cannot restore slice from {found}"),
        Shape::Struct(_) => format!("cannot restore struct from: {found}"),
    })
}

fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        other => print::type_name(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(Shape::Int32, json!(3_000_000_000_u32), json!(-1_294_967_296))]
    #[case(Shape::Int32, json!(1e30), json!(0))]
    #[case(Shape::Int64, json!(1e30), json!(i64::MIN))]
    #[case(Shape::Int64, json!(2.0), json!(2))]
    #[case(Shape::Byte, json!(-1), json!(255))]
    fn numbers_are_cut_to_fit(#[case] shape: Shape, #[case] given: Value, #[case] kept: Value) {
        let Value::Number(number) = given else { panic!("no number") };
        assert_eq!(whole(&shape, &number), Some(kept));
    }

    #[rstest]
    #[case(Shape::Text("types.UID"), json!(1), "cannot convert int64 to types.UID")]
    #[case(Shape::Text("types.UID"), json!(1.5), "unrecognized type: string")]
    #[case(Shape::Bool, json!("true"), "unrecognized type: bool")]
    #[case(Shape::Int32, json!(1.5), "cannot convert float64 to int32")]
    #[case(Shape::Time, json!({}), "json: cannot unmarshal object into Go value of type string")]
    #[case(Shape::Bytes, json!({}), "cannot restore slice from map")]
    #[case(Shape::Map(&Shape::Bool), json!([]), "cannot restore map from slice")]
    fn what_does_not_fit_is_told_in_words_of_their_own(
        #[case] shape: Shape,
        #[case] value: Value,
        #[case] told: &str,
    ) {
        assert_eq!(mismatch(&shape, &value).to_string(), told);
    }
}
