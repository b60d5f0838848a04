//! All values between two, as `1ms..20ms*8` or `1ms..100ms*8log`.

use super::MOST_VALUES;
use super::quantity::{self, QuantityKind, rounded, shortest};
use super::whole;
use aqm_core::input_error::InputError;

/// Values between the ends of a range have this many digits, so that they can be read and typed again.
pub const DIGITS: usize = 4;
const LOG: &str = "log";
/// tc's multiples of a byte.
const BYTE_UNITS: [(&str, f64); 3] = [("gb", 1_073_741_824.0), ("mb", 1_048_576.0), ("kb", 1024.0)];

/// All values between two, at equal distances or at equal ratios.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Range {
    /// What its ends are.
    pub kind: &'static QuantityKind,
    /// The ends, in base units.
    pub low: f64,
    /// The upper one.
    pub high: f64,
    /// How many values it has; none for a sample.
    pub count: Option<usize>,
    /// Whether ratios are equal, not distances.
    pub is_log: bool,
    /// Whether its values are whole numbers.
    pub is_whole: bool,
}

impl Range {
    /// Reads a range; nothing if the text is none.
    ///
    /// ```
    /// use aqm_scenario::sweep::Range;
    /// let range = Range::parse("1ms..100ms*3log").unwrap().unwrap();
    /// assert_eq!(range.values(), ["1ms", "10ms", "100ms"]);
    /// assert!(Range::parse("5*cubic:start=0s..1s").unwrap().is_none());
    /// ```
    ///
    /// # Errors
    /// What is wrong with the range.
    pub fn parse(text: &str) -> Result<Option<Range>, InputError> {
        let Some(Parts { low, high, rest }) = Parts::of(text) else { return Ok(None) };
        let Some((kind, ends)) = quantity::read([low.trim(), high.trim()]) else { return Ok(None) };
        let refused = |problem: &str| InputError::new(format!("'{text}': {problem}")).of_value(text);
        let (low, high) = (ends[0], ends[1]);
        if low >= high {
            return Err(refused("the first end is not below the second"));
        }
        let is_log = rest.is_some_and(|rest| rest.ends_with(LOG));
        if is_log && low <= 0.0 {
            return Err(refused("equal ratios need an end above zero"));
        }
        let count = rest.map(|rest| rest.strip_suffix(LOG).unwrap_or(rest));
        let count = count.map(|count| whole(count, 2, MOST_VALUES));
        let count = count.transpose().map_err(|error| refused(&error.to_string()))?;
        let are_whole =
            low.fract() == 0.0 && high.fract() == 0.0 && !text.replacen("..", "", 1).contains('.');
        Ok(Some(Range { kind, low, high, count, is_log, is_whole: kind.is_whole || are_whole }))
    }

    /// The value at a share of the range, from 0 to 1.
    ///
    /// ```
    /// use aqm_scenario::sweep::Range;
    /// let range = |text| Range::parse(text).unwrap().unwrap();
    /// assert_eq!((range("0ms..16ms").at(0.5), range("1..100").at(0.5)), ("8ms".to_owned(), "50".to_owned()));
    /// // In the unit of the ends: not 36860b, which are four digits of bytes.
    /// assert_eq!((range("8kb..64kb").at(0.5), range("8kb..64kb").at(0.3)), ("36kb".to_owned(), "24.8kb".to_owned()));
    /// ```
    pub fn at(&self, share: f64) -> String {
        let value = if self.is_log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        };
        let (unit, size) = self.unit();
        let short = rounded(value / size, DIGITS);
        let short = if self.is_whole && size == 1.0 { short.round_ties_even() } else { short };
        let short = short.clamp(self.low / size, self.high / size);
        if (short * size).fract() == 0.0 || unit.is_empty() {
            return self.kind.write(short * size);
        }
        format!("{}{unit}", shortest(short))
    }

    /// Its values, ends included; those that are equal after rounding once. A range for a sample has none.
    pub fn values(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let count = self.count.unwrap_or(0);
        for place in 0..count {
            let value = self.at(place as f64 / (count - 1) as f64);
            if !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }

    /// The same at equal ratios.
    #[must_use]
    pub fn by_ratio(mut self) -> Range {
        self.is_log = true;
        self
    }

    /// The unit in which its values are rounded, if both ends are multiples of tc's kb, which has 1024 bytes.
    fn unit(&self) -> (&'static str, f64) {
        let divides = |size: f64| self.low % size == 0.0 && self.high % size == 0.0;
        let of_bytes = BYTE_UNITS.iter().find(|(_, size)| self.kind.axis == "bytes" && divides(*size));
        of_bytes.copied().unwrap_or(("", 1.0))
    }
}

/// A text of the form `LOW..HIGH` or `LOW..HIGH*REST`.
struct Parts<'a> {
    low: &'a str,
    high: &'a str,
    rest: Option<&'a str>,
}

impl Parts<'_> {
    fn of(text: &str) -> Option<Parts<'_>> {
        let (low, behind) = text.split_once("..")?;
        let (high, rest) = behind.split_once('*').map_or((behind, None), |(high, rest)| (high, Some(rest)));
        let is_one = |part: &str| !part.is_empty() && !part.contains(['*', ',']);
        let is_rest = rest.is_none_or(|rest| !rest.contains(['*', ',']));
        (is_one(low) && is_one(high) && is_rest).then_some(Parts { low, high, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn values_are_at_equal_distances_or_ratios() {
        for (text, values) in [
            ("1ms..4ms*4", "1ms 2ms 3ms 4ms"),
            ("1ms..20ms*8", "1ms 3.714ms 6.429ms 9.143ms 11.86ms 14.57ms 17.29ms 20ms"),
            ("100kbit..100mbit*4log", "100kbit 1mbit 10mbit 100mbit"),
            ("1%..10%*4", "1% 4% 7% 10%"),
            ("10p..20p*3", "10p 15p 20p"),
            ("1..10*4", "1 4 7 10"),
            ("1..100*5log", "1 3 10 32 100"),
            ("0.5..2*4", "0.5 1 1.5 2"),
            ("1p..3p*9", "1p 2p 3p"),
            ("8kb..64kb*4", "8kb 26.67kb 45.33kb 64kb"),
            ("8000b..64000b*3", "8000b 36000b 64000b"),
            ("0b..2mb*3", "0b 1mb 2mb"),
        ] {
            assert_eq!(Range::parse(text).unwrap().unwrap().values().join(" "), values, "{text}");
        }
    }

    #[test]
    fn what_is_no_range_is_none_and_what_is_wrong_is_refused() {
        for text in
            ["5ms", "start=0s..1s", "1ms..2mbit*4", "5*cubic:start=0s..1s", "..", "a,b..c", "1..2*3*4", ""]
        {
            assert!(Range::parse(text).unwrap().is_none(), "{text}");
        }
        for (text, problem) in [
            ("40ms..10ms*3", "the first end is not below the second"),
            ("10ms..40ms*1", "'1' is not a whole number from 2 to 1000"),
            ("10ms..40ms*", "'' is not a whole number from 2 to 1000"),
            ("10ms..40ms*1001", "'1001' is not a whole number from 2 to 1000"),
            ("0ms..40ms*3log", "equal ratios need an end above zero"),
        ] {
            assert_eq!(Range::parse(text).unwrap_err().to_string(), format!("'{text}': {problem}"));
        }
    }
}
