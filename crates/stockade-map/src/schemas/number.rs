//! Example numbers.

use serde_json::{Map, Number, Value};

/// Floats represent each integer below this number.
const EXACT: f64 = 9e15;

/// Returns the `index`-th number within the bounds of a schema, starting near 1,
/// or `None` if the bounds do not contain it.
#[must_use]
pub fn number(schema: &Map<String, Value>, is_whole: bool, index: usize) -> Option<Value> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let width = step.unwrap_or(if is_whole { 1.0 } else { 0.5 });
    let least = bound("minimum").into_iter().chain(bound("exclusiveMinimum").map(|it| it + width));
    let most = bound("maximum").into_iter().chain(bound("exclusiveMaximum").map(|it| it - width));
    let least = least.fold(f64::NEG_INFINITY, f64::max);
    let most = most.fold(f64::INFINITY, f64::min);
    if least > most && !is_whole && index == 0 {
        return between(schema);
    }
    let mut number = 1.0_f64.min(most).max(least);
    if let Some(step) = step {
        number = (number / step).ceil() * step;
        if number > most {
            number = (most / step).floor() * step;
        }
    }
    let number = if is_whole { number.ceil() } else { number };
    // An example never has so many items that a float would be inexact.
    let number = number + width * index as f64;
    (least..=most).contains(&number).then(|| written(number, is_whole))?
}

/// Returns the middle of exclusive bounds that are close to each other.
fn between(schema: &Map<String, Value>) -> Option<Value> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let low = bound("exclusiveMinimum").or_else(|| bound("minimum"))?;
    let high = bound("exclusiveMaximum").or_else(|| bound("maximum"))?;
    (low < high).then(|| written(f64::midpoint(low, high), false))?
}

fn written(number: f64, is_whole: bool) -> Option<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within 2^53")]
    let whole = (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64);
    match whole {
        Some(whole) => Some(Value::from(whole)),
        None if is_whole => None,
        None => Number::from_f64(number).map(Value::Number),
    }
}
