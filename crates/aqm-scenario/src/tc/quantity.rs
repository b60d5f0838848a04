//! What the value of a word is to tc, and how it is written in the laboratory's notation.

use super::units;
use aqm_core::input_error::InputError;
use aqm_core::params::Value;
use aqm_core::units::Size;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A number of packets.
    Packets,
    /// A number of bytes.
    Bytes,
    /// A number of packets that the laboratory has as a plain number.
    PacketCount,
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
    /// Hertz: the gains of tc-dualpi2(8).
    Hertz,
    /// The n of 2^-n: tc -d prints RED's weight so.
    NegativePower,
    /// A part of CAKE's link layer, read together with the others.
    Layer,
}

impl Quantity {
    /// What a bare number is.
    pub(super) const fn about(self) -> &'static str {
        match self {
            Quantity::Packets | Quantity::PacketCount => "packets",
            Quantity::Bytes | Quantity::Layer => "bytes",
            Quantity::Count => "whole numbers",
            Quantity::Number => "numbers",
            Quantity::Time => "microseconds",
            Quantity::Milliseconds => "milliseconds",
            Quantity::Seconds => "seconds",
            Quantity::TimeOrPackets => "microseconds, or packets with their `p`",
            Quantity::Rate => "bit/s",
            Quantity::RateOrUnlimited => "bit/s, or `unlimited`",
            Quantity::Percent => "percent",
            Quantity::Sixteenths => "sixteenths per second",
            Quantity::Hertz => "Hz",
            Quantity::NegativePower => "halvings: n is 2^-n",
        }
    }

    /// tc's text in the laboratory's notation; `printed` is the kernel's unit of time if tc printed the text.
    pub(super) fn read(self, text: &str, printed: Option<u64>) -> Result<String, InputError> {
        let tick = printed.unwrap_or(1);
        match self {
            Quantity::Packets => units::packets(text),
            Quantity::PacketCount => units::packets(text).map(|size| size.trim_end_matches('p').to_owned()),
            Quantity::Bytes => units::size(text),
            Quantity::Count => units::count(text).map(|count| count.to_string()),
            Quantity::Number => units::number(text).map(|number| number.to_string()),
            Quantity::Time => units::time(text, tick),
            Quantity::Milliseconds => units::time_in(text, 1_000_000, "milliseconds"),
            Quantity::Seconds => units::time_in(text, 1_000_000_000, "seconds"),
            Quantity::TimeOrPackets => units::time(text, tick).or_else(|error| match units::packets(text) {
                Ok(packets) if text.ends_with(char::is_alphabetic) => Ok(packets),
                _ => Err(error),
            }),
            Quantity::Rate => units::rate(text),
            Quantity::RateOrUnlimited if text == "unlimited" => Ok("auto".to_owned()),
            Quantity::RateOrUnlimited => units::rate(text),
            Quantity::Percent => units::percent(text),
            Quantity::Sixteenths => {
                units::count(text).map(|count| Value::Frequency(count as f64 / 16.0).to_string())
            }
            // iproute2 cuts a gain to 256ths, and prints six digits of what the kernel has.
            Quantity::Hertz => units::number(text).map(|gain| {
                let parts = gain * 256.0;
                let whole = if printed.is_some() { parts.round() } else { parts.floor() };
                Value::Frequency(whole / 256.0).to_string()
            }),
            Quantity::NegativePower => units::count(text).and_then(|power| match i32::try_from(power) {
                Ok(power @ 0..=31) => Ok(0.5_f64.powi(power).to_string()),
                _ => Err(InputError::out_of_range(text, "0 to 31")),
            }),
            Quantity::Layer => units::signed(text).map(|bytes| bytes.to_string()),
        }
    }

    /// A value in tc's text, or why tc cannot have it.
    pub(super) fn write(self, value: &Value) -> Result<String, &'static str> {
        match (self, value) {
            (Quantity::Packets | Quantity::TimeOrPackets, Value::Size(Size::Packets(count))) => {
                Ok(if self == Quantity::Packets { count.to_string() } else { format!("{count}packets") })
            }
            (Quantity::Packets, Value::Size(_)) => Err("is in bytes, and Linux counts packets here"),
            (Quantity::Bytes, Value::Size(Size::Packets(_))) => {
                Err("is in packets, and Linux counts bytes here")
            }
            (Quantity::Bytes, Value::Size(Size::Bytes(count))) => Ok(count.to_string()),
            (Quantity::Bytes, Value::Bytes(bytes)) => Ok(bytes.as_u64().to_string()),
            (Quantity::Bytes, Value::PerClass(list)) if list.as_slice().len() == 1 => {
                Ok(list.of_class(0).to_string())
            }
            (Quantity::Time | Quantity::TimeOrPackets, Value::Span(span))
                if span.as_nanos().is_multiple_of(1000) =>
            {
                Ok(span.to_string())
            }
            (Quantity::Milliseconds, Value::Span(span)) if span.as_nanos().is_multiple_of(1_000_000) => {
                Ok((span.as_nanos() / 1_000_000).to_string())
            }
            (Quantity::Seconds, Value::Span(span)) if span.as_nanos().is_multiple_of(1_000_000_000) => {
                Ok((span.as_nanos() / 1_000_000_000).to_string())
            }
            (Quantity::Time | Quantity::TimeOrPackets, Value::Span(_)) => {
                Err("is no whole number of microseconds")
            }
            (Quantity::Milliseconds, Value::Span(_)) => {
                Err("is no whole number of milliseconds, as tc has it")
            }
            (Quantity::Seconds, Value::Span(_)) => Err("is no whole number of seconds, as tc has it"),
            (Quantity::Rate | Quantity::RateOrUnlimited, Value::Rate(rate)) => Ok(rate.to_string()),
            (Quantity::Percent, Value::Percent(percent)) => {
                if percent.fract() == 0.0 {
                    Ok(percent.to_string())
                } else {
                    Err("is no whole percentage, as tc has it")
                }
            }
            (Quantity::Hertz, Value::Frequency(gain)) => Ok(gain.to_string()),
            (Quantity::Sixteenths, Value::Frequency(gain)) => {
                let count = gain * 16.0;
                if count.fract() == 0.0 {
                    Ok(count.to_string())
                } else {
                    Err("is no multiple of 1/16, as tc has it")
                }
            }
            (Quantity::Count, Value::Number(number)) if number.fract() != 0.0 => {
                Err("is no whole number, as tc has it")
            }
            (Quantity::Count | Quantity::PacketCount | Quantity::Number, value) => Ok(value.to_string()),
            _ => Err("cannot be given to tc"),
        }
    }
}
