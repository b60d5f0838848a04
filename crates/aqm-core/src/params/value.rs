//! A parameter's value and how it is written, its declaration, and the values of one discipline: a value may be a child,
//! with values of its own.

use super::{Kind, PerClass, TcNumber};
use crate::units::{Bytes, Rate, Size, Span};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Derived from other parameters or from the link; the declaration's `auto` says how.
    Auto,
    /// A length of time.
    Span(Span),
    /// A bit rate.
    Rate(Rate),
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of bytes that may be negative.
    SignedBytes(i64),
    /// A queue size in packets or bytes.
    Size(Size),
    /// A fraction or probability.
    Fraction(f64),
    /// A share, in percent.
    Percent(f64),
    /// A gain per second.
    Frequency(f64),
    /// A plain number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// On or off.
    Flag(bool),
    /// One of a few words.
    Choice(&'static str),
    /// Numbers, bytes or times, one per class; further classes use the last.
    PerClass(PerClass),
    /// Children; where there are several, one per class, and further classes use the last.
    Children(Vec<Child>),
    /// The name of something that the host knows: a word.
    Name(String),
    /// Text in a notation of the discipline's own, in the form in which it is written.
    Text(String),
    /// A discipline or another notation, in declarations and presets; [`Params`] hold it resolved, as `Children` or `Text`.
    Notation(&'static str),
}

/// A child, resolved: its name, its preset and all its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Name of the discipline.
    pub name: &'static str,
    /// Name of the preset.
    pub preset: &'static str,
    /// All parameters.
    pub params: Params,
}

/// The declaration of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    /// tc's name for it, where tc has one.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Default.
    pub default: Value,
    /// Smallest and largest allowed value, in the kind's base unit.
    pub range: (f64, f64),
    /// How `Auto` is derived; empty if `Auto` is not allowed.
    pub auto: &'static str,
    /// Another word for `auto`, which needs no parameter name before it: tc's `unlimited`; empty if there is none.
    pub auto_word: &'static str,
    /// Whether its words need no parameter name before them in a spec: tc's keywords.
    pub keywords: bool,
    /// What a number without a unit is to tc.
    pub tc_number: TcNumber,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Source of the default.
    pub reference: &'static str,
}

/// A named set of values and their source.
#[derive(Clone, Debug)]
pub struct Preset {
    /// `rfc8289`, `linux`, `ns3.27`, ...
    pub name: &'static str,
    /// Document, source tree and version that the values were read from.
    pub source: &'static str,
    /// Values that differ from the declarations' defaults.
    pub values: &'static [(&'static str, Value)],
}

/// The values of all declared parameters of one discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub(super) specs: &'static [ParamSpec],
    pub(super) values: Vec<Value>,
    pub(super) given: Vec<bool>,
}

impl fmt::Display for Child {
    /// Writes it as in [`Spec`](crate::spec::Spec), without brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.name, self.preset, self.params.given())
    }
}

impl fmt::Display for Value {
    /// Writes the value in the notation of the parser.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Auto => f.write_str("auto"),
            Value::Span(span) => span.fmt(f),
            Value::Rate(rate) => rate.fmt(f),
            Value::Bytes(bytes) => bytes.fmt(f),
            Value::SignedBytes(bytes) => write!(f, "{bytes}b"),
            Value::Size(size) => size.fmt(f),
            Value::Fraction(number) | Value::Number(number) => write!(f, "{number}"),
            Value::Percent(number) => write!(f, "{number}%"),
            Value::Frequency(number) => write!(f, "{number}hz"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Flag(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Choice(word) => f.write_str(word),
            Value::PerClass(list) => list.fmt(f),
            Value::Children(children) => {
                let words: Vec<_> = children.iter().map(|child| format!("[{child}]")).collect();
                f.write_str(&words.join(" "))
            }
            Value::Name(name) => f.write_str(name),
            Value::Text(text) => write!(f, "[{text}]"),
            Value::Notation(text) => write!(f, "[{text}]"),
        }
    }
}
