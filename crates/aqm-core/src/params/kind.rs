//! Kinds of parameter values.

/// The kind of value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time.
    Span,
    /// A bit rate.
    Rate,
    /// A number of bytes.
    Bytes,
    /// A queue size in packets or bytes.
    Size,
    /// A fraction or probability.
    Fraction,
    /// A plain number.
    Number,
    /// A whole number.
    Count,
    /// On or off.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Whole numbers, separated by commas.
    Counts,
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
            Kind::Rate => "rate",
            Kind::Bytes => "bytes",
            Kind::Size => "packets or bytes",
            Kind::Fraction => "fraction",
            Kind::Number => "number",
            Kind::Count => "count",
            Kind::Flag => "on/off",
            Kind::Choice(_) => "choice",
            Kind::Counts => "counts",
            Kind::Child => "discipline",
            Kind::Children => "disciplines",
        }
    }
}
