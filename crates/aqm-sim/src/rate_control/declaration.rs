//! What a rate control declares of itself, and how its keys are declared.

use super::control::{Bounds, Feedback, RateControl};
use super::receiver::Thinning;
use crate::transport::Values;
use aqm_core::params::{Kind, ParamSpec, Value};
use aqm_core::units::{Rate, Span, Time};

/// The declaration of a rate control.
pub struct Info {
    /// Name of the transport.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// Keys that it alone has, beside [`RATE_SENDER`](super::RATE_SENDER).
    pub params: &'static [ParamSpec],
    /// What it sets by default.
    pub sets: &'static [(&'static str, &'static str)],
    /// The least rate for a link of so many bit/s.
    pub least: fn(f64) -> f64,
    /// What the three values of a message say.
    pub read: fn([u64; 3]) -> Feedback,
    /// Which marked packets its receiver answers, if any.
    pub receiver: fn(&Values) -> Option<Thinning>,
    /// The machine of a flow that starts at a time and keeps within bounds.
    pub build: fn(&Values, Bounds, Time) -> Box<dyn RateControl>,
}

/// A rate as the machines have it.
pub fn bits(values: &Values, name: &str) -> f64 {
    values.rate(name).map_or(f64::INFINITY, |rate| rate.as_bits_per_sec() as f64)
}

/// A declared rate.
pub const fn rate(
    name: &'static str,
    default: Option<u64>,
    help: &'static str,
    reference: &'static str,
) -> ParamSpec {
    let default = match default {
        Some(bits) => Value::Rate(Rate::from_bits_per_sec(bits)),
        None => Value::Auto,
    };
    ParamSpec::new(name, Kind::Rate, default, (1.0, 1e13), help, reference)
}

/// A declared length of time.
pub const fn span(
    name: &'static str,
    default: Span,
    help: &'static str,
    reference: &'static str,
) -> ParamSpec {
    ParamSpec::new(name, Kind::Span, Value::Span(default), (1.0, 1e15), help, reference)
}
