//! Quantities by tc's rules (tc(8), "PARAMETERS"): a number without a unit has one by its place, and `k` is 1024 of bytes.
//!
//! Each function gives the laboratory's notation, or what is wrong with the text.

use aqm_core::input_error::InputError;
use aqm_core::units::{Bytes, Rate, Size, Span};

/// 2^53: from there on a float has no fraction, and tc's own integers end before.
const TOO_LARGE: f64 = 9_007_199_254_740_992.0;

/// Of bytes; a bit is an eighth of one, of 1024 here.
const SIZES: &[(&str, f64)] = &[
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("kbit", 128.0),
    ("mbit", 131_072.0),
    ("gbit", 134_217_728.0),
];

/// Of bit/s; `bps` are bytes per second.
const RATES: &[(&str, f64)] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("tbit", 1e12),
    ("kibit", 1024.0),
    ("mibit", 1_048_576.0),
    ("gibit", 1_073_741_824.0),
    ("tibit", 1_099_511_627_776.0),
    ("bps", 8.0),
    ("kbps", 8e3),
    ("mbps", 8e6),
    ("gbps", 8e9),
    ("tbps", 8e12),
    ("kibps", 8_192.0),
    ("mibps", 8_388_608.0),
    ("gibps", 8_589_934_592.0),
    ("tibps", 8_796_093_022_208.0),
];

/// Of microseconds.
const TIMES: &[(&str, f64)] = &[
    ("us", 1.0),
    ("usec", 1.0),
    ("usecs", 1.0),
    ("ms", 1e3),
    ("msec", 1e3),
    ("msecs", 1e3),
    ("s", 1e6),
    ("sec", 1e6),
    ("secs", 1e6),
];

/// A number and its suffix: decimal, with an exponent, or hexadecimal.
fn split(text: &str) -> Option<(f64, &str)> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return u64::from_str_radix(&hex[..end], 16).ok().map(|number| (number as f64, &hex[end..]));
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    let mut seen = end;
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        seen += after;
        end += 1 + after;
    }
    if seen == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= bytes.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, &text[end..]))
}

/// A number in the first unit of a table; without a suffix it is in `bare`.
fn quantity(text: &str, bare: f64, units: &[(&str, f64)], allowed: &str) -> Result<f64, InputError> {
    let wrong = || InputError::value(text, format_args!("is not {allowed}"));
    let (number, suffix) = split(text).ok_or_else(wrong)?;
    let scale = match suffix {
        "" => bare,
        _ => units.iter().find(|(name, _)| name.eq_ignore_ascii_case(suffix)).ok_or_else(wrong)?.1,
    };
    let value = number * scale;
    if value >= TOO_LARGE { Err(InputError::value(text, "is too large")) } else { Ok(value) }
}

/// A whole number without a unit: decimal, `0x` hexadecimal, `0` octal, as C's `strtoul` reads it.
pub(super) fn count(text: &str) -> Result<u64, InputError> {
    let found = if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        u32::from_str_radix(hex, 16)
    } else if text.len() > 1 && text.starts_with('0') {
        u32::from_str_radix(&text[1..], 8)
    } else {
        text.parse()
    };
    let has_sign = text.contains(['+', '-']);
    found
        .ok()
        .filter(|_| !has_sign)
        .map(u64::from)
        .ok_or_else(|| InputError::value(text, "is not a whole number"))
}

/// An octet and its mask, `VALUE/MASK`.
pub(super) fn masked(text: &str) -> Result<[u8; 2], InputError> {
    let wrong = || InputError::value(text, "is not VALUE/MASK, each from 0 to 0xff");
    let (value, mask) = text.split_once('/').ok_or_else(wrong)?;
    let octet = |part| count(part).ok().and_then(|number| u8::try_from(number).ok()).ok_or_else(wrong);
    Ok([octet(value)?, octet(mask)?])
}

/// Packets: a bare number, or with the `p` that tc prints.
pub(super) fn packets(text: &str) -> Result<String, InputError> {
    let number = ["packets", "packet", "pkts", "pkt", "p"]
        .iter()
        .find_map(|unit| text.strip_suffix(unit))
        .unwrap_or(text);
    let wrong =
        |_| InputError::value(text, "is not a number of packets: tc counts them here, without a unit");
    Ok(Size::Packets(count(number).map_err(wrong)?).to_string())
}

/// Bytes: a bare number, or `k`, `m`, `g` of 1024.
pub(super) fn bytes(text: &str) -> Result<u64, InputError> {
    quantity(
        text,
        1.0,
        SIZES,
        "a size: bytes as a bare number, or with b, k, m, g, kb, mb, gb, kbit, mbit or gbit",
    )
    .map(|bytes| bytes as u64)
}

/// The same in the laboratory's notation.
pub(super) fn size(text: &str) -> Result<String, InputError> {
    bytes(text).map(|count| Bytes::new(count).to_string())
}

/// Microseconds as a bare number, or with a unit; in nanoseconds. Its own integers are whole microseconds.
pub(super) fn nanoseconds(text: &str) -> Result<u64, InputError> {
    let allowed = "a time: microseconds as a bare number, or with us, ms or s";
    let micros = quantity(text, 1.0, TIMES, allowed)?;
    if micros >= TOO_LARGE / 1000.0 {
        Err(InputError::value(text, "is too large"))
    } else {
        Ok(micros as u64 * 1000)
    }
}

/// The same in the laboratory's notation, before the kernel cut it to ticks of so many nanoseconds. What tc rounded to
/// three digits stays.
pub(super) fn time(text: &str, tick: u64) -> Result<String, InputError> {
    let span = nanoseconds(text)?;
    let is_exact = text.bytes().all(|byte| byte.is_ascii_digit()) || text.ends_with("us");
    Ok(Span::from_nanos(if is_exact { before_ticks(span, tick) } else { span }).to_string())
}

/// A bare number of a unit of `scale` nanoseconds; tc prints some with their unit (`10sec`, `600000ms`).
pub(super) fn time_in(text: &str, scale: u64, unit: &str) -> Result<String, InputError> {
    let wrong = |_: InputError| {
        InputError::value(text, format_args!("is not a whole number of {unit}, as tc has it here"))
    };
    let has_unit = !text.starts_with("0x") && text.contains(|c: char| c.is_ascii_alphabetic());
    if has_unit {
        return time(text, 1).map_err(wrong);
    }
    let number = count(text).map_err(wrong)?;
    Ok(Span::from_nanos(number * scale).to_string())
}

/// A rate: bit/s as a bare number. tc has it as whole bytes per second.
pub(super) fn bits_per_second(text: &str) -> Result<u64, InputError> {
    let allowed =
        "a rate: bit/s as a bare number, or with bit, kbit, mbit, gbit, tbit, or bps for bytes per second";
    if text.ends_with('%') {
        return Err(InputError::new(format!(
            "'{text}' is a part of the device's speed, which tc asks the device: give a rate, as 9mbit"
        )));
    }
    quantity(text, 1.0, RATES, allowed).map(|bits| (bits / 8.0) as u64 * 8)
}

/// The same in the laboratory's notation.
pub(super) fn rate(text: &str) -> Result<String, InputError> {
    bits_per_second(text).map(|bits| Rate::from_bits_per_sec(bits).to_string())
}

/// A number as C's `%lg` reads it.
pub(super) fn number(text: &str) -> Result<f64, InputError> {
    match split(text) {
        Some((number, "")) => Ok(number),
        _ => Err(InputError::value(text, "is not a number")),
    }
}

/// A whole number of bytes that may be negative.
pub(super) fn signed(text: &str) -> Result<i32, InputError> {
    text.parse().map_err(|_| InputError::value(text, "is not a whole number of bytes"))
}

/// Hundredths, with or without the sign.
pub(super) fn percent(text: &str) -> Result<String, InputError> {
    let number = number(text.strip_suffix('%').unwrap_or(text));
    number.map(|number| format!("{number}%")).map_err(|_| InputError::value(text, "is not a percentage"))
}

/// A time that the kernel stores in ticks of `tick` nanoseconds and tc prints cut to microseconds, as it was given: of the
/// times that are printed so, the roundest. CoDel's `target 5ms` comes back as 4999 (ticks of 1024 ns).
fn before_ticks(nanos: u64, tick: u64) -> u64 {
    if tick <= 1 {
        return nanos;
    }
    let printed = |micros: u64| micros * 1000 / tick * tick / 1000;
    let micros = nanos / 1000;
    let as_printed = (micros..micros + 3).rev().filter(|given| printed(*given) == micros);
    let roundness =
        |micros: &u64| (1..).take_while(|power| micros.is_multiple_of(10_u64.pow(*power))).take(9).count();
    as_printed.max_by_key(roundness).unwrap_or(micros) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_has_the_unit_of_its_place() {
        assert_eq!(packets("1000").unwrap(), "1000p");
        assert_eq!(packets("10240p").unwrap(), "10240p");
        assert_eq!(packets("0x3e8").unwrap(), "1000p");
        assert_eq!(size("100000").unwrap(), "100000b");
        assert_eq!(size("1M").unwrap(), "1mb");
        assert_eq!(size("32Mb").unwrap(), "32mb");
        assert_eq!(size("60KB").unwrap(), "60kb");
        assert_eq!(size("32kbit").unwrap(), "4kb");
        assert_eq!(size("1.5k").unwrap(), "1536b");
        assert_eq!(time("2000", 1).unwrap(), "2ms");
        assert_eq!(time("5.0ms", 1024).unwrap(), "5ms");
        assert_eq!(time("0.1s", 1).unwrap(), "100ms");
        assert_eq!(time_in("10", 1_000_000_000, "seconds").unwrap(), "10s");
        assert_eq!(time_in("10sec", 1_000_000_000, "seconds").unwrap(), "10s");
        assert_eq!(rate("1000").unwrap(), "1kbit");
        assert_eq!(rate("10Mbit").unwrap(), "10mbit");
        assert_eq!(rate("1mbps").unwrap(), "8mbit");
        assert_eq!(rate("10gibit").unwrap(), "10737418240bit");
        assert_eq!(rate("1e6").unwrap(), "1mbit");
        assert_eq!(percent("10").unwrap(), "10%");
        assert_eq!(count("010").unwrap(), 8);
    }

    #[test]
    fn what_tc_refuses_is_refused() {
        for text in ["", "x", "-1", "+1", "1x", "0x", "nan", "inf", "1e", "99999999999", "08"] {
            assert!(count(text).is_err(), "{text}");
        }
        for text in ["", "ms", "-1", "5m", "5 ms", "1e300", "inf", "0xffffffffffffffff", "5ns"] {
            assert!(time(text, 1).is_err(), "{text}");
        }
        assert!(rate("10M").is_err() && rate("50%").unwrap_err().to_string().contains("speed"));
        assert!(size("5p").is_err() && percent("x%").is_err() && number("0.1x").is_err());
    }

    #[test]
    fn times_come_back_as_they_were_given() {
        for micros in [5000, 100_000, 1000, 20_000, 1024, 128, 15_000, 30_000] {
            let printed = micros * 1000 / 1024 * 1024 / 1000;
            assert_eq!(
                before_ticks(printed * 1000, 1024),
                micros * 1000,
                "{micros} us are printed as {printed}"
            );
            assert_eq!(before_ticks(micros * 1000, 1), micros * 1000);
        }
        assert_eq!((5_000_000 / 1024 * 1024) / 1000, 4999);
    }
}
