//! The parser of tc's notation, for the command line, files and Python.
//!
//! Suffixes are case-insensitive, as in tc, with tc's traps: `mbps` is mega*bytes* per second and `kb` is 1024 bytes.
//! tc gives a bare number a unit (bit/s, microseconds, bytes); these functions refuse it.

use super::{Bytes, Rate, Size, Span};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// The reason why a quantity could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// What is wrong and what is allowed.
    pub problem: String,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' {}", self.text, self.problem)
    }
}

impl core::error::Error for UnitError {}

const RATE_UNITS: &[(&str, f64)] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("tbit", 1e12),
    ("kibit", 1024.0),
    ("mibit", 1048576.0),
    ("gibit", 1073741824.0),
    ("tibit", 1099511627776.0),
    ("bps", 8.0),
    ("kbps", 8e3),
    ("mbps", 8e6),
    ("gbps", 8e9),
    ("tbps", 8e12),
    ("kibps", 8.0 * 1024.0),
    ("mibps", 8.0 * 1048576.0),
    ("gibps", 8.0 * 1073741824.0),
    ("tibps", 8.0 * 1099511627776.0),
];

const SPAN_UNITS: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("nsec", 1.0),
    ("nsecs", 1.0),
    ("us", 1e3),
    ("usec", 1e3),
    ("usecs", 1e3),
    ("ms", 1e6),
    ("msec", 1e6),
    ("msecs", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
];

const BYTE_UNITS: &[(&str, f64)] = &[
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1048576.0),
    ("mb", 1048576.0),
    ("g", 1073741824.0),
    ("gb", 1073741824.0),
    ("kbit", 128.0),
    ("mbit", 131072.0),
    ("gbit", 134217728.0),
];

/// Reads a bit rate.
///
/// ```
/// use aqm_core::units::{parse, Rate};
/// assert_eq!(parse::rate("10Mbit").unwrap(), Rate::from_mbit(10));
/// assert_eq!(parse::rate("10mbps").unwrap(), Rate::from_mbit(80)); // bytes, as in tc
/// assert!(parse::rate("10").is_err());
/// ```
pub fn rate(text: &str) -> Result<Rate, UnitError> {
    let bits = quantity(text, RATE_UNITS, "a rate such as 10mbit, 1.5gbit or 500kbit")?;
    Ok(Rate::from_bits_per_sec(bits))
}

/// Reads a length of time.
///
/// ```
/// use aqm_core::units::{parse, Span};
/// assert_eq!(parse::span("1.5ms").unwrap(), Span::from_micros(1500));
/// assert_eq!(parse::span("20").unwrap_err().to_string(), "'20' has no unit: give a time such as 20ms, 100us or 2s");
/// ```
pub fn span(text: &str) -> Result<Span, UnitError> {
    quantity(text, SPAN_UNITS, "a time such as 20ms, 100us or 2s").map(Span::from_nanos)
}

/// Reads a number of bytes; `kb` is 1024 bytes, as in tc.
///
/// ```
/// use aqm_core::units::{parse, Bytes};
/// assert_eq!(parse::bytes("64kb").unwrap(), Bytes::new(65536));
/// assert!(parse::bytes("3000").unwrap_err().to_string().starts_with("'3000' has no unit: write 3000b"));
/// ```
pub fn bytes(text: &str) -> Result<Bytes, UnitError> {
    let trimmed = text.trim();
    // What tc would take for bytes.
    if plain_decimal(trimmed) {
        let problem = format!("has no unit: write {trimmed}b, or a size in bytes such as 64kb (65536 bytes)");
        return Err(error(text, problem));
    }
    quantity(text, BYTE_UNITS, "a size in bytes such as 1500b or 64kb (65536 bytes)").map(Bytes::new)
}

/// Reads a number of bytes that may be negative.
pub fn signed_bytes(text: &str) -> Result<i64, UnitError> {
    let digits = text.trim().strip_prefix('-');
    let read = bytes(digits.unwrap_or(text)).map_err(|wrong| UnitError {
        problem: if digits.is_some() { wrong.problem.replace("write ", "write -") } else { wrong.problem },
        text: text.to_string(),
    })?;
    // Every number that `bytes` reads is below 2^53.
    let magnitude = read.as_u64() as i64;
    Ok(if digits.is_some() { -magnitude } else { magnitude })
}

/// Reads a queue size in packets (`1000p`, `1000pkt`) or bytes.
pub fn size(text: &str) -> Result<Size, UnitError> {
    const HINT: &str = "a size such as 1000p (packets) or 64kb (bytes)";
    let lower = text.trim().to_ascii_lowercase();
    for suffix in ["packets", "packet", "pkts", "pkt", "p"] {
        if lower.strip_suffix(suffix).is_some() {
            return quantity(text, &[(suffix, 1.0)], HINT).map(Size::Packets);
        }
    }
    quantity(text, BYTE_UNITS, HINT).map(Size::Bytes)
}

/// Reads a fraction: `0.1` or `10%`.
pub fn fraction(text: &str) -> Result<f64, UnitError> {
    const HINT: &str = "is not a fraction such as 0.1 or 10%";
    let trimmed = text.trim();
    let (digits, scale) = trimmed.strip_suffix('%').map_or((trimmed, 1.0), |digits| (digits, 100.0));
    match digits.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && plain_decimal(digits.trim()) => Ok(value / scale),
        _ => Err(error(text, HINT.to_string())),
    }
}

/// Reads a gain per second; `Hz` is the unit of RFC 9332 appendix A and of tc-dualpi2(8).
///
/// ```
/// use aqm_core::units::parse;
/// assert_eq!(parse::frequency("0.125hz").unwrap(), 0.125);
/// assert_eq!(parse::frequency("2").unwrap_err().to_string(), "'2' has no unit: write 2hz, a gain per second");
/// ```
pub fn frequency(text: &str) -> Result<f64, UnitError> {
    const WANTED: &str = "a gain per second such as 0.125hz";
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (digits, suffix) = (trimmed[..split].trim(), &trimmed[split..]);
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() && plain_decimal(digits) => match suffix {
            "" => Err(error(text, format!("has no unit: write {digits}hz, a gain per second"))),
            _ if suffix.eq_ignore_ascii_case("hz") => Ok(number),
            _ => Err(error(text, format!("has an unknown unit '{suffix}': give {WANTED}"))),
        },
        _ => Err(error(text, format!("is not {WANTED}"))),
    }
}

/// Reads a share that tc counts in percent, as a number of percent: `10%`, or `0.1` below one.
///
/// ```
/// use aqm_core::units::parse;
/// assert_eq!((parse::percent("10%"), parse::percent("0.5")), (Ok(10.0), Ok(50.0)));
/// let both = "'1' has no unit: write 1% as tc counts, or 100% for all";
/// assert_eq!(parse::percent("1").unwrap_err().to_string(), both);
/// ```
pub fn percent(text: &str) -> Result<f64, UnitError> {
    let share = fraction(text)?;
    let trimmed = text.trim();
    match trimmed.strip_suffix('%') {
        // As written: a hundredth of it, times a hundred, may be another number.
        Some(digits) => Ok(digits.trim().parse().unwrap_or(share * 100.0)),
        None if share < 1.0 => Ok(share * 100.0),
        None => Err(error(text, format!("has no unit: write {trimmed}% as tc counts, or 100% for all"))),
    }
}

/// Splits number and suffix, looks the suffix up and returns the number in base units, rounded.
fn quantity(text: &str, units: &[(&str, f64)], wanted: &str) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (digits, suffix) = (trimmed[..split].trim(), trimmed[split..].to_ascii_lowercase());
    if digits.starts_with('-') {
        return Err(error(text, "is negative".to_string()));
    }
    if !plain_decimal(digits) {
        return Err(error(text, format!("is not {wanted}")));
    }
    let number: f64 = digits.parse().map_err(|_| error(text, format!("is not {wanted}")))?;
    if suffix.is_empty() {
        return Err(error(text, format!("has no unit: give {wanted}")));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == suffix) else {
        return Err(error(text, format!("has an unknown unit '{suffix}': give {wanted}")));
    };
    let value = number * scale;
    // 2^53: a larger float cannot hold every integer.
    if value > 9_007_199_254_740_992.0 {
        return Err(error(text, "is too large".to_string()));
    }
    // From 2^52 on a float has no fraction, and adding a half would round to another integer.
    let half = if value < 4_503_599_627_370_496.0 { 0.5 } else { 0.0 };
    Ok((value + half) as u64)
}

/// Digits with at most one point: no exponents, signs, `inf` or `nan`.
pub(crate) fn plain_decimal(digits: &str) -> bool {
    digits.bytes().any(|b| b.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().filter(|b| *b == b'.').count() <= 1
}

fn error(text: &str, problem: String) -> UnitError {
    UnitError { text: text.to_string(), problem }
}
