//! The notation of thresholds: `s 1s, s1 10 rate 0.05 for 400ms, b2 10`.

use crate::input_error::InputError;
use crate::law::features::{COUNT, NAMES, is_derivative, is_sojourn};
use crate::params::{Notation, Value, did_you_mean};
use crate::units::{Span, parse};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The notation.
pub(super) static NOTATION: Notation = Notation {
    unit: "features",
    form: "FEATURE THRESHOLD [rate SHARE] [for TIME], ...",
    examples: &["s 1s, b 120", "s1 0.5 rate 0.25 for 50ms, b3 20 for 1s", "b 0 rate 1"],
    refused: &["", "s", "s4 1", "s 10", "s 1s, s 2s", "b 1 rate 2", "b1 -1", "b 1 for 5", "s 1s b 2"],
    canonical,
    with_files: None,
};

/// A feature that counts.
#[derive(Clone, Debug)]
pub(super) struct Feature {
    value: Value,
    /// Its own drop rate and duration, if it has them.
    pub(super) rate: Option<f64>,
    pub(super) duration: Option<Span>,
}

/// The order in which features are written.
const WRITTEN: [&str; COUNT] = ["s", "s1", "s2", "s3", "b", "b1", "b2", "b3"];
const MOST: f64 = 1e9;
const LONGEST: Span = Span::from_nanos(100_000_000_000);

impl Feature {
    /// Its threshold, in the unit of the feature.
    pub(super) fn threshold(&self) -> f64 {
        match self.value {
            Value::Span(span) => span.as_millis_f64(),
            Value::Count(packets) => packets as f64,
            Value::Number(number) => number,
            _ => f64::INFINITY,
        }
    }
}

/// Each feature that is listed, in the order of [`NAMES`].
pub(super) fn read(text: &str) -> Result<[Option<Feature>; COUNT], InputError> {
    let mut found = [const { None }; COUNT];
    for entry in text.split(',').map(str::trim) {
        let words: Vec<&str> = entry.split_whitespace().collect();
        let [name, threshold, rest @ ..] = &*words else {
            return Err(InputError::value(entry, "is no feature with its threshold, as s 1s or b1 10"));
        };
        let Some(index) = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)) else {
            let hint = did_you_mean(name, NAMES.into_iter());
            return Err(InputError::value(
                name,
                format_args!("is no feature{hint}; there are {}", WRITTEN.join(", ")),
            ));
        };
        if found[index].is_some() {
            return Err(InputError::value(name, "is listed twice"));
        }
        let mut feature = Feature { value: threshold_of(index, threshold)?, rate: None, duration: None };
        for pair in rest.chunks(2) {
            match pair {
                ["rate", share] if feature.rate.is_none() => feature.rate = Some(share_of(share)?),
                ["for", span] if feature.duration.is_none() => feature.duration = Some(span_of(span)?),
                _ => {
                    return Err(InputError::value(entry, "is not FEATURE THRESHOLD [rate SHARE] [for TIME]"));
                }
            }
        }
        found[index] = Some(feature);
    }
    Ok(found)
}

fn threshold_of(index: usize, text: &str) -> Result<Value, InputError> {
    if is_derivative(index) {
        return match text.parse::<f64>() {
            Ok(number) if (0.0..=MOST).contains(&number) => Ok(Value::Number(number)),
            _ => Err(InputError::value(
                text,
                format_args!("is no threshold of {}: allowed is 0 to {MOST}", NAMES[index]),
            )),
        };
    }
    if is_sojourn(index) {
        return span_of(text).map(Value::Span);
    }
    let packets = text.strip_suffix('p').unwrap_or(text);
    match packets.parse::<u64>() {
        Ok(packets) if packets as f64 <= MOST && !text.starts_with('+') => Ok(Value::Count(packets)),
        _ => Err(InputError::value(text, format_args!("is no number of packets: allowed is 0 to {MOST}"))),
    }
}

fn span_of(text: &str) -> Result<Span, InputError> {
    let span = parse::span(text)?;
    if span <= LONGEST {
        Ok(span)
    } else {
        Err(InputError::value(text, format_args!("is longer than {LONGEST}")))
    }
}

fn share_of(text: &str) -> Result<f64, InputError> {
    let share = parse::fraction(text)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(InputError::value(text, "is no share: allowed is 0 to 1"))
    }
}

fn canonical(text: &str) -> Result<String, InputError> {
    let listed = read(text)?;
    let written = WRITTEN.iter().filter_map(|name| {
        let index = NAMES.iter().position(|known| known == name)?;
        let feature = listed[index].as_ref()?;
        let rate = feature.rate.map_or_else(String::new, |rate| format!(" rate {}", Value::Fraction(rate)));
        let duration = feature.duration.map_or_else(String::new, |span| format!(" for {span}"));
        Some([name, " ", &feature.value.to_string(), &rate, &duration].concat())
    });
    Ok(written.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_written_in_their_order_and_read_alike() {
        let text = "b2 10, S 1000ms,s1 0.50 for 400ms rate 5%,b 120p";
        let written = "s 1s, s1 0.5 rate 0.05 for 400ms, b 120, b2 10";
        assert_eq!(canonical(text).unwrap(), written);
        assert_eq!(canonical(written).unwrap(), written);
        let listed = read(written).unwrap().map(|feature| feature.map(|feature| feature.threshold()));
        // b, s, b1, s1, b2, s2, b3, s3.
        assert_eq!(listed, [Some(120.0), Some(1000.0), None, Some(0.5), Some(10.0), None, None, None]);
    }

    #[test]
    fn what_is_no_list_of_features_is_refused_with_what_is_allowed() {
        for (text, problem) in [
            ("s4 1", "'s4' is no feature, did you mean 's1'?; there are s, s1, s2, s3, b, b1, b2, b3"),
            ("s", "'s' is no feature with its threshold, as s 1s or b1 10"),
            ("b 1, b 2", "'b' is listed twice"),
            ("b1 -1", "'-1' is no threshold of b1: allowed is 0 to 1000000000"),
            ("b 1 rate 2", "'2' is no share: allowed is 0 to 1"),
            ("b 1 rate", "'b 1 rate' is not FEATURE THRESHOLD [rate SHARE] [for TIME]"),
        ] {
            assert_eq!(canonical(text).unwrap_err().to_string(), problem);
        }
        for text in NOTATION.refused {
            assert!(canonical(text).is_err(), "{text}");
        }
    }
}
