//! Kinds of parameter values.

use super::notation::Notation;
use super::per_class::Each;

/// The kind of value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time.
    Span,
    /// A length of time, or a number of packets.
    SpanOrPackets,
    /// A bit rate.
    Rate,
    /// A number of bytes.
    Bytes,
    /// A number of bytes that may be negative.
    SignedBytes,
    /// A queue size in packets or bytes.
    Size,
    /// A fraction or probability.
    Fraction,
    /// A share that tc counts in percent.
    Percent,
    /// A gain per second, in Hz.
    Frequency,
    /// A plain number.
    Number,
    /// A whole number.
    Count,
    /// On or off.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Numbers, bytes or times, separated by commas: one per class.
    PerClass(Each),
    /// The name of something that the host knows.
    Name,
    /// Text in brackets, in a notation of the discipline's own.
    Notation(&'static Notation),
    /// One discipline in brackets: `[codel target 10ms]`.
    Child,
    /// Disciplines in brackets, one per class: `[codel target 10ms] [fifo]`.
    Children,
}

impl Kind {
    /// The unit as shown to users, empty where there is none.
    pub const fn unit(self) -> &'static str {
        match self {
            Kind::Span => "time",
            Kind::SpanOrPackets => "time or packets",
            Kind::Rate => "rate",
            Kind::Bytes | Kind::SignedBytes => "bytes",
            Kind::Size => "packets or bytes",
            Kind::Fraction => "fraction",
            Kind::Percent => "percent",
            Kind::Frequency => "frequency",
            Kind::Number => "number",
            Kind::Count => "count",
            Kind::Flag => "on/off",
            Kind::Choice(_) => "choice",
            Kind::PerClass(Each::Count) => "counts",
            Kind::PerClass(Each::Bytes) => "bytes per class",
            Kind::PerClass(Each::Span) => "time per class",
            Kind::Name => "name",
            Kind::Notation(notation) => notation.unit,
            Kind::Child => "discipline",
            Kind::Children => "disciplines",
        }
    }
}
