//! Numbers in the notation of flow specs: times, rates, bytes and whole numbers, in base units.

use super::tree::Tree;
use aqm_core::input_error::InputError;
use aqm_core::params::Kind;
use aqm_core::units::{Bytes, Rate, Span, parse};

/// More digits are beyond 64 bits.
const LONGEST_WHOLE: usize = 18;
/// A larger float cannot hold every whole number.
const MOST_DRAWN: u64 = 1 << 53;

/// A value that was read: as in a scenario, and as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Read {
    pub(super) value: Tree,
    pub(super) text: String,
}

/// Reads a time, a rate, bytes or a whole number, in base units.
pub(super) fn read(text: &str, unit: Kind) -> Result<u64, InputError> {
    Ok(match unit {
        Kind::Span => parse::span(text)?.as_nanos(),
        Kind::Rate => parse::rate(text)?.as_bits_per_sec(),
        Kind::Bytes => parse::bytes(text)?.as_u64(),
        _ => whole(text)
            .filter(|number| *number < MOST_DRAWN)
            .ok_or_else(|| InputError::value(text, "is not a whole number"))?,
    })
}

/// Writes what [`read`] reads.
pub(super) fn write(unit: Kind, value: u64) -> String {
    match unit {
        Kind::Span => Span::from_nanos(value).to_string(),
        Kind::Rate => Rate::from_bits_per_sec(value).to_string(),
        Kind::Bytes => Bytes::new(value).to_string(),
        _ => value.to_string(),
    }
}

/// Digits alone.
pub(super) fn whole(text: &str) -> Option<u64> {
    let is_plain =
        !text.is_empty() && text.len() <= LONGEST_WHOLE && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

/// Digits alone, within bounds.
pub(crate) fn whole_within(text: &str, least: u64, most: u64) -> Result<u64, InputError> {
    whole(text).filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let problem = format!("is not a whole number from {least} to {most}");
        InputError::value(text, problem).allowing([format!("{least} to {most}")])
    })
}

/// Digits, perhaps with a point between two of them.
pub(super) fn plain_number(text: &str) -> Option<f64> {
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let (before, after) = text.split_once('.').unwrap_or((text, "0"));
    if is_plain(before) && is_plain(after) { text.parse().ok() } else { None }
}

/// Reads `LOW..HIGH`; LOW may omit its unit.
pub(super) fn bounds(text: &str, unit: Kind) -> Result<(u64, u64), InputError> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let (low, high) = (low.trim(), high.trim());
    let suffix: String =
        high.chars().filter(|c| !(c.is_ascii_digit() || *c == '.' || c.is_whitespace())).collect();
    let is_bare = !low.is_empty() && low.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let low = read(&if is_bare { format!("{low}{suffix}") } else { low.to_owned() }, unit)?;
    let high = read(high, unit)?;
    if low > high { Err(InputError::value(text, "runs backwards")) } else { Ok((low, high)) }
}
