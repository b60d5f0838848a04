//! Values of parameters: allowed ones, forbidden ones, and the limit.

use aqm_core::params::{Child, Kind, ParamSpec, Params, PerClass, Value};
use aqm_core::spec::{Spec, read_child};
use aqm_core::units::{Bytes, Rate, Size, Span};

/// Values that the declaration allows: default, both ends of the range, one in between, every word.
pub(crate) fn allowed(spec: &ParamSpec) -> Vec<Value> {
    let (min, max) = spec.range;
    let mut values = Vec::new();
    if !matches!(spec.default, Value::Notation(_)) {
        values.push(spec.default.clone());
    }
    if !spec.auto.is_empty() {
        values.push(Value::Auto);
    }
    match spec.kind {
        Kind::Flag => values.extend([Value::Flag(true), Value::Flag(false)]),
        Kind::Choice(words) => values.extend(words.iter().map(|word| Value::Choice(word))),
        Kind::Name => values.push(Value::Name("one".to_owned())),
        Kind::Notation(notation) => {
            let written = notation.examples.iter().map(|text| (notation.canonical)(text).unwrap());
            values.extend(written.map(Value::Text));
        }
        Kind::Child | Kind::Children => {
            let two: &[&str] = &["red", "fifo limit 5p"];
            let nested: &[&str] = &["sp classes 2 child [fifo] child [drr child [codel] quantum 3000b]"];
            let lists = [&["fifo"], &["codel:linux target 10ms ecn"], nested, two];
            values.extend(lists.map(|list| Value::Children(list.iter().map(|text| child(text)).collect())));
        }
        // For a wide range, a value below the geometric mean is more interesting than the middle.
        kind => {
            for magnitude in [min, max, (min.max(1e-3) * max).sqrt().clamp(min, max)] {
                values.extend(of_magnitude(kind, magnitude));
            }
        }
    }
    values.retain(|value| spec.check(value.clone()).is_ok());
    values
}

/// Whether a parameter chooses between few words, as those do that turn others on.
pub(crate) fn is_switch(spec: &ParamSpec) -> bool {
    matches!(spec.kind, Kind::Flag | Kind::Choice(_))
}

/// Values just outside the declared range, and one far outside.
pub(crate) fn forbidden(spec: &ParamSpec) -> Vec<Value> {
    let (min, max) = spec.range;
    let step = match spec.kind {
        Kind::Fraction | Kind::Percent | Kind::Frequency | Kind::Number => max.abs() * 1e-6,
        // Above 2^53 the spacing of whole numbers is more than one.
        _ => (max * 1e-9).max(1.0),
    };
    let mut magnitudes = vec![max + step, max * 2.0 + step];
    if min - step >= 0.0
        || matches!(spec.kind, Kind::Fraction | Kind::Percent | Kind::Frequency | Kind::Number)
    {
        magnitudes.push(min - step);
    }
    match spec.kind {
        Kind::Flag | Kind::Choice(_) | Kind::Name => Vec::new(),
        Kind::Notation(notation) => {
            notation.refused.iter().map(|text| Value::Text((*text).to_owned())).collect()
        }
        Kind::Child | Kind::Children => {
            vec![Value::Children(Vec::new()), Value::Children(vec![child("fifo"); 65])]
        }
        kind => magnitudes.into_iter().flat_map(|magnitude| of_magnitude(kind, magnitude)).collect(),
    }
}

fn child(text: &str) -> Child {
    read_child(text).unwrap_or_else(|error| panic!("{error}"))
}

/// `magnitude` in the kind's base unit; a size both in packets and in bytes.
pub(crate) fn of_magnitude(kind: Kind, magnitude: f64) -> Vec<Value> {
    let whole = magnitude.ceil() as u64;
    match kind {
        Kind::Span => vec![Value::Span(Span::from_nanos(whole))],
        Kind::SpanOrPackets => {
            vec![Value::Span(Span::from_nanos(whole)), Value::Size(Size::Packets(whole))]
        }
        Kind::Rate => vec![Value::Rate(Rate::from_bits_per_sec(whole))],
        Kind::Bytes => vec![Value::Bytes(Bytes::new(whole))],
        Kind::Size => vec![Value::Size(Size::Packets(whole)), Value::Size(Size::Bytes(whole))],
        Kind::Fraction => vec![Value::Fraction(magnitude)],
        Kind::Percent => vec![Value::Percent(magnitude)],
        Kind::Frequency => vec![Value::Frequency(magnitude)],
        Kind::Number => vec![Value::Number(magnitude)],
        Kind::Count => vec![Value::Count(whole)],
        Kind::SignedBytes => vec![Value::SignedBytes(magnitude.floor() as i64)],
        Kind::PerClass(each) => [vec![whole], vec![1, whole]]
            .map(|numbers| Value::PerClass(PerClass::of(each, numbers.leak())))
            .to_vec(),
        Kind::Flag | Kind::Choice(_) | Kind::Name | Kind::Notation(_) | Kind::Child | Kind::Children => {
            Vec::new()
        }
    }
}

/// The parameter `limit`, if there is one and it is not derived.
pub(crate) fn limit(params: &Params) -> Option<Size> {
    match params.iter().find(|(spec, _)| spec.name == "limit") {
        Some((_, Value::Size(size))) => Some(*size),
        _ => None,
    }
}

/// `spec` with room for a standing queue: a limit of a few packets leaves some laws nothing to do.
pub(crate) fn with_room(mut spec: Spec) -> Spec {
    if matches!(limit(&spec.params), Some(Size::Packets(..100))) {
        spec.set_text("limit", "1000p").unwrap_or_else(|error| panic!("{spec}: {error}"));
    }
    spec
}
