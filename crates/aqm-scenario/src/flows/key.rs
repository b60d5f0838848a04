//! The declaration of a key of a flow spec, whoever declares it: a kind of flow, or a transport.

use super::distribution;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::Span;
use aqm_sim::traffic::{self, Takes};
use aqm_sim::transport::field;

/// A larger bound only guards against overflow.
pub const WITHOUT_BOUND: f64 = 1e15;

/// A key of a flow spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its name in the resolved scenario.
    pub field: String,
    /// What it takes.
    pub takes: Takes,
    /// The words of a choice.
    pub words: Vec<&'static str>,
    /// Smallest and largest value, in base units.
    pub range: (f64, f64),
    /// Its default in the notation of flow specs; `None` if there is none.
    pub default: Option<String>,
    /// What it does, in a few words.
    pub help: &'static str,
    /// Source of the default.
    pub reference: &'static str,
}

impl Key {
    /// A choice of words.
    pub(super) fn choice(
        name: &'static str,
        words: Vec<&'static str>,
        default: &str,
        help: &'static str,
    ) -> Key {
        Key {
            name,
            field: name.to_owned(),
            takes: Takes::One(Kind::Choice(&[])),
            words,
            range: (0.0, 0.0),
            default: Some(default.to_owned()),
            help,
            reference: "",
        }
    }

    /// The unit of one value.
    pub fn unit(&self) -> Option<Kind> {
        match self.takes {
            Takes::One(unit) | Takes::Drawn(unit) | Takes::Ascending(unit) => Some(unit),
            Takes::Range => Some(Kind::Span),
            Takes::Name | Takes::Nodes | Takes::Capture => None,
        }
    }

    /// The allowed notation, for messages and help.
    ///
    /// ```
    /// let cubic = aqm_scenario::flows::Catalogue::default().kind("cubic").unwrap().keys(None);
    /// let iw = cubic.iter().find(|key| key.name == "iw").unwrap();
    /// assert_eq!(iw.allowed(), "1 to 10000");
    /// ```
    pub fn allowed(&self) -> String {
        let (low, high) = self.range;
        let bounded = high < WITHOUT_BOUND;
        match self.takes {
            Takes::Drawn(unit) => distribution::allowed(unit),
            Takes::Ascending(_) => "rates, ascending, with commas".to_owned(),
            Takes::Range => "a time, or 0..500ms (uniform)".to_owned(),
            Takes::Name => "a name".to_owned(),
            Takes::Nodes => "nodes, as s0 or s*|t1".to_owned(),
            Takes::Capture => "a capture (pcap, pcapng)".to_owned(),
            Takes::One(Kind::Span) if low > 0.0 => "a time".to_owned(),
            Takes::One(Kind::Span) => "a time, or off".to_owned(),
            Takes::One(Kind::Rate) => "a rate such as 3mbit".to_owned(),
            Takes::One(Kind::Bytes) if bounded => format!("{low}b to {high}b"),
            Takes::One(Kind::Bytes) => "bytes such as 1mb".to_owned(),
            Takes::One(Kind::Size) => "20p or 64kb".to_owned(),
            Takes::One(Kind::Fraction) => {
                format!("a share such as 60%, above 0 to {}%", (high * 100.0).round())
            }
            Takes::One(Kind::Count) => format!("{low} to {high}"),
            Takes::One(Kind::Flag) => "on or off".to_owned(),
            Takes::One(_) => match self.words.as_slice() {
                [] => "a number".to_owned(),
                [one] => (*one).to_owned(),
                [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
            },
        }
    }
}

impl From<&traffic::Key> for Key {
    fn from(key: &traffic::Key) -> Key {
        Key {
            name: key.name,
            field: key.field.to_owned(),
            takes: key.takes,
            words: Vec::new(),
            range: key.range,
            default: (!key.default.is_empty()).then(|| key.default.to_owned()),
            help: key.help,
            reference: key.reference,
        }
    }
}

impl From<&ParamSpec> for Key {
    fn from(param: &ParamSpec) -> Key {
        let words = if let Kind::Choice(words) = param.kind { words.to_vec() } else { Vec::new() };
        Key {
            name: param.name,
            field: field(param),
            takes: Takes::One(param.kind),
            words,
            range: param.range,
            default: (param.default != Value::Auto).then(|| written(&param.default)),
            help: param.help,
            reference: param.reference,
        }
    }
}

/// A declared value in the notation of flow specs: a time of zero is `off`.
pub fn written(value: &Value) -> String {
    match value {
        Value::Span(Span::ZERO) => "off".to_owned(),
        other => other.to_string(),
    }
}
