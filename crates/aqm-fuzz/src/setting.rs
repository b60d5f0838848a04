//! Parameters with values within their bounds.

use crate::host::values;
use aqm_core::params::ParamSpec;
use arbitrary::Arbitrary;

/// A parameter and its value; numbers are taken modulo what there is.
#[derive(Arbitrary, Debug)]
pub(crate) struct Setting {
    param: u8,
    value: Choice,
}

#[derive(Arbitrary, Debug)]
enum Choice {
    /// One of the values that the conformance tests try.
    Listed(u8),
    /// A place on the logarithmic scale between the ends of the range.
    Between(u16),
}

impl Setting {
    /// The parameter's name and the value as text; `None` if there are no parameters, or this one takes no number.
    pub(crate) fn read(&self, params: &'static [ParamSpec]) -> Option<(&'static str, String)> {
        let spec = params.get(usize::from(self.param) % params.len().max(1))?;
        let (values, number) = match self.value {
            Choice::Between(place) => {
                let (min, max) = (spec.range.0.max(1e-6), spec.range.1);
                let magnitude = min * (max / min).powf(f64::from(place) / 65535.0);
                let mut values = values::of_magnitude(spec.kind, magnitude.clamp(spec.range.0, max));
                values.retain(|value| spec.check(value.clone()).is_ok());
                (values, usize::from(place))
            }
            Choice::Listed(number) => (values::allowed(spec), usize::from(number)),
        };
        let value = values.get(number % values.len().max(1))?;
        Some((spec.name, value.to_string()))
    }
}
