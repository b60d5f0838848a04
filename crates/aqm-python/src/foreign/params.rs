//! Parameters of a class: declared by a default in tc's notation, and handed to Python in base units.

use aqm_core::discipline::LIMIT;
use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Size, parse};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A parameter from its default, `5ms`, or its default and its range, `5ms 1us..10s`.
pub(super) fn param_spec(
    source: &'static str,
    name: &'static str,
    text: &str,
) -> Result<ParamSpec, InputError> {
    let typed = |text| if name == LIMIT.name { sized(text) } else { typed(text) };
    let mut words = text.split_whitespace();
    let default = words.next().unwrap_or_default();
    let (kind, value, mut range) =
        typed(default).ok_or_else(|| InputError::value(text, "is no value").within(name))?;
    if let Some(given) = words.next() {
        let ends = given.split_once("..").and_then(|(low, high)| Some((typed(low)?, typed(high)?)));
        let Some((low, high)) = ends else {
            return Err(InputError::value(given, "is not a range").within(name));
        };
        range = (magnitude(&low.1), magnitude(&high.1));
    }
    let help = "see its class";
    let spec = ParamSpec::new(name, kind, value.clone(), range, help, source);
    spec.check(value)?;
    Ok(spec)
}

fn typed(text: &str) -> Option<(Kind, Value, (f64, f64))> {
    if matches!(text, "on" | "off") {
        return Some((Kind::Flag, Value::Flag(text == "on"), (0.0, 1.0)));
    }
    if let Ok(count) = text.parse() {
        return Some((Kind::Count, Value::Count(count), (0.0, 1e9)));
    }
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some((Kind::Number, Value::Number(number), (0.0, 1e9)));
    }
    if let Ok(span) = parse::span(text) {
        return Some((Kind::Span, Value::Span(span), (0.0, 1e12)));
    }
    if let Ok(fraction) = parse::fraction(text) {
        return Some((Kind::Fraction, Value::Fraction(fraction), (0.0, 1.0)));
    }
    if let Ok(size @ Size::Packets(_)) = parse::size(text) {
        return Some((Kind::Size, Value::Size(size), (1.0, 1e12)));
    }
    if let Ok(rate) = parse::rate(text) {
        return Some((Kind::Rate, Value::Rate(rate), (1.0, 1e15)));
    }
    if let Ok(frequency) = parse::frequency(text) {
        return Some((Kind::Frequency, Value::Frequency(frequency), (0.0, 1e9)));
    }
    parse::bytes(text).ok().map(|bytes| (Kind::Bytes, Value::Bytes(bytes), (0.0, 1e12)))
}

/// The limit, whose unit is that of every queue.
fn sized(text: &str) -> Option<(Kind, Value, (f64, f64))> {
    parse::size(text).ok().map(|size| (Kind::Size, Value::Size(size), LIMIT.range))
}

fn magnitude(value: &Value) -> f64 {
    match value {
        Value::Span(span) => span.as_nanos() as f64,
        Value::Rate(rate) => rate.as_bits_per_sec() as f64,
        Value::Bytes(bytes) => bytes.as_u64() as f64,
        Value::Size(size) => size.count() as f64,
        Value::Fraction(number) | Value::Frequency(number) | Value::Number(number) => *number,
        Value::Count(count) => *count as f64,
        _ => 0.0,
    }
}

/// The values of parameters as Python has them: nanoseconds, bit/s, bytes, packets, numbers.
pub(super) fn values<'py, 'a>(
    py: Python<'py>,
    params: impl Iterator<Item = (&'static ParamSpec, &'a Value)>,
) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(py);
    for (spec, value) in params.filter(|(spec, _)| spec.name != LIMIT.name) {
        match value {
            Value::Span(span) => values.set_item(spec.name, span.as_nanos())?,
            Value::Rate(rate) => values.set_item(spec.name, rate.as_bits_per_sec())?,
            Value::Bytes(bytes) => values.set_item(spec.name, bytes.as_u64())?,
            Value::Size(size) => values.set_item(spec.name, size.count())?,
            Value::Fraction(number) | Value::Frequency(number) | Value::Number(number) => {
                values.set_item(spec.name, number)?;
            }
            Value::Count(count) => values.set_item(spec.name, count)?,
            Value::Flag(on) => values.set_item(spec.name, on)?,
            _ => {}
        }
    }
    Ok(values)
}
