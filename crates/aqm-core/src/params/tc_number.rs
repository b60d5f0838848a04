//! What tc's plain number means, where it is not what ours would mean.

use crate::units::parse::plain_decimal;
use alloc::format;
use alloc::string::String;

/// In which unit tc counts a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcNumber {
    /// In the unit of the declaration, or in one that the notation always spells out.
    Same,
    /// In Hz: the number alone is accepted.
    Hertz,
    /// In sixteenths of one per second (tc-pie(8)).
    Sixteenths,
}

impl TcNumber {
    /// A number with the unit that it may lack.
    pub(super) fn with_unit(self, text: &str) -> String {
        let hertz = self == TcNumber::Hertz && plain_decimal(text.trim());
        format!("{text}{}", if hertz { "hz" } else { "" })
    }

    /// Why `text`, if it is a plain number, may be tc's or ours: the problem names both meanings.
    pub(super) fn ambiguous(self, text: &str) -> Option<String> {
        let digits = text.trim();
        let number: f64 = digits.parse().ok().filter(|_| plain_decimal(digits))?;
        match self {
            TcNumber::Sixteenths if number > 0.0 => Some(format!(
                "has no unit: write {}hz for {digits} as tc counts (sixteenths of 1/s), or {digits}hz for {digits} per second",
                number / 16.0
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::parse;

    #[test]
    fn sixteenths_name_both_meanings() {
        let both =
            "has no unit: write 0.125hz for 2 as tc counts (sixteenths of 1/s), or 2hz for 2 per second";
        assert_eq!(TcNumber::Sixteenths.ambiguous("2").unwrap(), both);
        for (number, text) in
            [(TcNumber::Sixteenths, "2hz"), (TcNumber::Sixteenths, "0"), (TcNumber::Same, "2")]
        {
            assert_eq!(number.ambiguous(text), None, "{text}");
        }
    }

    #[test]
    fn hertz_may_be_left_out_only_where_tc_counts_in_them() {
        assert_eq!(parse::frequency(&TcNumber::Hertz.with_unit("0.16")), Ok(0.16));
        assert_eq!(parse::frequency(&TcNumber::Hertz.with_unit("0.16hz")), Ok(0.16));
        assert!(parse::frequency(&TcNumber::Same.with_unit("0.16")).is_err());
    }
}
