//! What the value of a word is to tc, and how it is written in the laboratory's notation.

use super::units;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A number of packets.
    Packets,
    /// A number of bytes.
    Bytes,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// A time, in microseconds as a bare number.
    Time,
    /// A whole number of milliseconds.
    Milliseconds,
    /// A whole number of seconds.
    Seconds,
    /// A time, or packets with their `p`.
    TimeOrPackets,
    /// A rate.
    Rate,
    /// A rate, or `unlimited`.
    RateOrUnlimited,
    /// Hundredths.
    Percent,
    /// Sixteenths per second: PIE's gains (tc-pie(8)).
    Sixteenths,
    /// The n of 2^-n: tc -d prints RED's weight so.
    NegativePower,
    /// A part of CAKE's link layer, read together with the others.
    Layer,
}

impl Quantity {
    /// tc's text in the laboratory's notation; `tick` is the kernel's unit of time where tc printed it exactly, else 1.
    pub(super) fn read(self, text: &str, tick: u64) -> Result<String, String> {
        match self {
            Quantity::Packets => units::packets(text),
            Quantity::Bytes => units::size(text),
            Quantity::Count => units::count(text).map(|count| count.to_string()),
            Quantity::Number => units::number(text).map(|number| number.to_string()),
            Quantity::Time => units::time(text, tick),
            Quantity::Milliseconds => units::time_in(text, 1_000_000, "milliseconds"),
            Quantity::Seconds => units::time_in(text, 1_000_000_000, "seconds"),
            Quantity::TimeOrPackets => units::time(text, tick)
                .or_else(|error| if text.ends_with('p') { units::packets(text) } else { Err(error) }),
            Quantity::Rate => units::rate(text),
            Quantity::RateOrUnlimited if text == "unlimited" => Ok("auto".to_owned()),
            Quantity::RateOrUnlimited => units::rate(text),
            Quantity::Percent => units::percent(text),
            Quantity::Sixteenths => units::count(text).map(|count| (count as f64 / 16.0).to_string()),
            Quantity::NegativePower => units::count(text).and_then(|power| match i32::try_from(power) {
                Ok(power @ 0..=31) => Ok(0.5_f64.powi(power).to_string()),
                _ => Err(format!("'{text}' is out of range: allowed is 0 to 31")),
            }),
            Quantity::Layer => units::signed(text).map(|bytes| bytes.to_string()),
        }
    }
}
