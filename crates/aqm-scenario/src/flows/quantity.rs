//! Values of keys: read from the notation of flow specs, checked as declared, and written so that reading gives the same.

use super::distribution;
use super::files::Files;
use super::key::Key;
use super::number::{self, Read, bounds, plain_number, write};
use aqm_core::input_error::InputError;
use aqm_core::params::Kind;
use aqm_core::units::{Size, Span, parse};
use aqm_sim::traffic::Takes;

/// Reads the value of a key; a size in packets counts segments of `segment` bytes.
pub(super) fn read(key: &Key, text: &str, segment: u64, files: &dyn Files) -> Result<Read, InputError> {
    match key.takes {
        Takes::Drawn(unit) => distribution::read(text, unit, files),
        Takes::Ascending(unit) => ascending(text, unit),
        Takes::Range => range(text),
        Takes::Name => name(text),
        Takes::Nodes => Ok(Read { value: text.into(), text: text.to_owned() }),
        Takes::Capture => {
            let place = files.place(text);
            Ok(Read { value: place.as_str().into(), text: place })
        }
        Takes::One(unit) => one(key, unit, text, segment),
    }
}

fn one(key: &Key, unit: Kind, text: &str, segment: u64) -> Result<Read, InputError> {
    let is_optional = unit == Kind::Span && key.range.0 == 0.0;
    if is_optional && text.eq_ignore_ascii_case("off") {
        return Ok(Read { value: 0.into(), text: "off".to_owned() });
    }
    match unit {
        Kind::Choice(_) => {
            let lower = text.to_lowercase();
            match key.words.iter().find(|word| **word == lower) {
                Some(word) => Ok(Read { value: (*word).into(), text: lower }),
                None => Err(InputError::not_one_of(text, key.words.iter().copied())),
            }
        }
        Kind::Flag => match text.to_ascii_lowercase().as_str() {
            word @ ("on" | "off") => Ok(Read { value: (word == "on").into(), text: word.to_owned() }),
            _ => Err(InputError::value(text, "is neither 'on' nor 'off'")
                .allowing(["on".to_owned(), "off".to_owned()])),
        },
        Kind::Fraction => {
            let share = parse::fraction(text)?;
            check(key, unit, text, share)?;
            Ok(Read { value: share.into(), text: percent(share) })
        }
        Kind::Number => {
            let number = plain_number(text).ok_or_else(|| InputError::value(text, "is not a number"))?;
            check(key, unit, text, number)?;
            Ok(Read { value: number.into(), text: number.to_string() })
        }
        Kind::Size => {
            let size = parse::size(text)?;
            check(key, unit, text, size.count() as f64)?;
            let bytes = match size {
                Size::Packets(packets) => packets * segment,
                Size::Bytes(bytes) => bytes,
            };
            Ok(Read { value: bytes.into(), text: size.to_string() })
        }
        _ => {
            let value = number::read(text, unit)?;
            if value == 0 && is_optional {
                return Err(InputError::value(text, "is zero: write 'off'"));
            }
            check(key, unit, text, value as f64)?;
            Ok(Read { value: value.into(), text: write(unit, value) })
        }
    }
}

fn check(key: &Key, unit: Kind, text: &str, value: f64) -> Result<(), InputError> {
    let (low, high) = key.range;
    if value == 0.0 && low > 0.0 && matches!(unit, Kind::Span | Kind::Rate | Kind::Size) {
        return Err(InputError::value(text, "is zero"));
    }
    if (low..=high).contains(&value) { Ok(()) } else { Err(InputError::out_of_range(text, key.allowed())) }
}

fn range(text: &str) -> Result<Read, InputError> {
    let (low, high) = if text.contains("..") {
        bounds(text, Kind::Span)?
    } else {
        let instant = number::read(text, Kind::Span)?;
        (instant, instant)
    };
    let written = [low, high].map(|time| Span::from_nanos(time).to_string());
    let text = if low == high { written[0].clone() } else { written.join("..") };
    Ok(Read { value: vec![low, high].into(), text })
}

fn ascending(text: &str, unit: Kind) -> Result<Read, InputError> {
    let values: Vec<u64> =
        text.split(',').map(|part| number::read(part.trim(), unit)).collect::<Result<_, _>>()?;
    if values.contains(&0) {
        return Err(InputError::value(text, "holds a zero"));
    }
    if !values.is_sorted_by(|low, high| low < high) {
        return Err(InputError::value(text, "does not ascend"));
    }
    let text = values.iter().map(|value| write(unit, *value)).collect::<Vec<_>>().join(",");
    Ok(Read { value: values.into(), text })
}

fn name(text: &str) -> Result<Read, InputError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(fits) {
        return Ok(Read { value: text.into(), text: text.to_owned() });
    }
    Err(InputError::value(text, "is not a name: a letter, then letters, digits, '-' and '_'"))
}

/// A share in percent, with ten digits.
fn percent(share: f64) -> String {
    let rounded: f64 = format!("{:.9e}", share * 100.0).parse().expect("a float is written");
    format!("{rounded}%")
}
