//! Texts as quantities of any kind: for the ends of a range, and for columns and axes of swept values.

use aqm_core::units::{Bytes, Rate, Span, parse};

/// A kind of quantity.
#[derive(Debug)]
#[non_exhaustive]
pub struct QuantityKind {
    /// Ending of a column of such values; nothing for plain numbers.
    pub ending: &'static str,
    /// The unit as written on an axis.
    pub axis: &'static str,
    /// Base units in one of the column's unit.
    pub scale: f64,
    /// Whether base units are whole numbers.
    pub is_whole: bool,
    read: fn(&str) -> Option<f64>,
    write: fn(f64) -> String,
}

impl QuantityKind {
    /// A text in base units: bit/s, nanoseconds, bytes, packets.
    pub fn read(&self, text: &str) -> Option<f64> {
        (self.read)(text)
    }

    /// Base units as text; reading it gives the same value.
    pub fn write(&self, value: f64) -> String {
        (self.write)(value)
    }
}

/// Every kind. What is read by several is of the first.
pub static KINDS: &[QuantityKind] = &[
    QuantityKind { ending: "", axis: "", scale: 1.0, is_whole: false, read: number, write: shortest },
    QuantityKind {
        ending: "_packets",
        axis: "packets",
        scale: 1.0,
        is_whole: true,
        read: packets,
        write: |value| format!("{}p", value.round_ties_even()),
    },
    QuantityKind {
        ending: "_percent",
        axis: "%",
        scale: 0.01,
        is_whole: false,
        read: percent,
        write: |value| format!("{}%", shortest(value * 100.0)),
    },
    QuantityKind {
        ending: "_hz",
        axis: "Hz",
        scale: 1.0,
        is_whole: false,
        read: |text| parse::frequency(text).ok(),
        write: |value| format!("{}hz", shortest(value)),
    },
    QuantityKind {
        ending: "_mbit",
        axis: "Mbit/s",
        scale: 1e6,
        is_whole: true,
        read: |text| parse::rate(text).ok().map(|rate| rate.as_bits_per_sec() as f64),
        write: |value| Rate::from_bits_per_sec(whole(value)).to_string(),
    },
    QuantityKind {
        ending: "_ms",
        axis: "ms",
        scale: 1e6,
        is_whole: true,
        read: |text| parse::span(text).ok().map(|span| span.as_nanos() as f64),
        write: |value| span(whole(value)),
    },
    QuantityKind {
        ending: "_bytes",
        axis: "bytes",
        scale: 1.0,
        is_whole: true,
        read: |text| parse::bytes(text).ok().map(|bytes| bytes.as_u64() as f64),
        write: |value| Bytes::new(whole(value)).to_string(),
    },
];

/// The kind of some texts and their values in its base units, if all are of one kind.
///
/// ```
/// use aqm_scenario::sweep::quantity;
/// let (kind, values) = quantity::read(["500us", "2ms"]).unwrap();
/// assert_eq!((kind.ending, values), ("_ms", vec![500_000.0, 2_000_000.0]));
/// assert!(quantity::read(["5ms", "10mbit"]).is_none());
/// ```
pub fn read<'a>(
    texts: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<(&'static QuantityKind, Vec<f64>)> {
    KINDS.iter().find_map(|kind| {
        let values: Option<Vec<f64>> = texts.clone().into_iter().map(|text| kind.read(text)).collect();
        values.map(|values| (kind, values))
    })
}

/// A number with so many significant digits.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

/// A number with at most ten digits, and no zeros behind them.
pub(super) fn shortest(value: f64) -> String {
    const DIGITS: i32 = 10;
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |digits: &str| match digits.split_once('.') {
        Some(_) => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => digits.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        return bare(&format!("{value:.*}", usize::try_from(DIGITS - 1 - exponent).unwrap_or(0)));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", bare(digits), exponent.unsigned_abs())
}

fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-'));
    let value: f64 = if is_plain { text.parse().ok()? } else { return None };
    value.is_finite().then_some(value)
}

fn packets(text: &str) -> Option<f64> {
    let digits = text.strip_suffix('p')?;
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole { digits.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
}

fn percent(text: &str) -> Option<f64> {
    if text.ends_with('%') { parse::fraction(text).ok() } else { None }
}

fn whole(value: f64) -> u64 {
    value.round_ties_even() as u64
}

/// A time in the largest unit of which there is one, as people write it: 4.8ms, not 4800us.
fn span(nanos: u64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
    let unit = units.iter().find(|(_, size)| nanos as f64 >= *size);
    let text = unit.map(|(unit, size)| format!("{}{unit}", shortest(nanos as f64 / size)));
    let same = |text: &String| parse::span(text) == Ok(Span::from_nanos(nanos));
    text.filter(same).unwrap_or_else(|| Span::from_nanos(nanos).to_string())
}

#[cfg(test)]
mod tests {
    use super::{read, rounded, shortest};

    #[test]
    fn numbers_are_as_short_as_they_are() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (1234.5, "1234.5"),
            (1.0 / 3.0, "0.3333333333"),
            (1e-5, "1e-05"),
            (2e9, "2000000000"),
            (1e10, "1e+10"),
            (-2.5, "-2.5"),
            (99_999_999_999.0, "1e+11"),
        ] {
            assert_eq!(shortest(value), text);
        }
        assert_eq!((rounded(36_864.0, 4), rounded(0.012_345, 4)), (36_860.0, 0.012_35));
    }

    #[test]
    fn what_a_kind_writes_it_reads() {
        for text in
            ["1.5", "20p", "0.1%", "0.125hz", "10mbit", "4.8ms", "1500us", "64kb", "1500b", "0s", "1e-05"]
        {
            let (kind, values) = read([text]).unwrap();
            assert_eq!(kind.read(&kind.write(values[0])), Some(values[0]), "{text}");
        }
        for text in ["", "5x", "1bdp", "10", "-3ms", "1_000", "nan", "inf", "1e999", "p", "\u{661}p"] {
            let kind = read([text]).map(|(kind, _)| kind.ending);
            assert_eq!(kind, (text == "10").then_some(""), "{text}");
        }
    }
}
