//! Parameters with values within their bounds.

use crate::host::values;
use aqm_core::params::ParamSpec;
use arbitrary::Arbitrary;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Settings at the start of a sequence that count. A discipline has about so many parameters, and to read their values
/// takes longer than what most calls do.
const MOST_SETTINGS: usize = 16;

thread_local! {
    /// What the conformance tests try, as text, by the parameter's place in memory: some of it is parsed from notations.
    static LISTED: RefCell<BTreeMap<*const ParamSpec, Vec<String>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Names and values of the settings that a sequence begins with.
pub(crate) fn given(
    settings: &[Setting],
    params: &'static [ParamSpec],
) -> impl Iterator<Item = (&'static str, String)> {
    settings.iter().take(MOST_SETTINGS).filter_map(move |setting| setting.read(params))
}

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
        let value = match self.value {
            Choice::Between(place) => between(spec, place),
            Choice::Listed(number) => LISTED.with_borrow_mut(|known| {
                let texts = || values::allowed(spec).iter().map(ToString::to_string).collect();
                let listed = known.entry(spec).or_insert_with(texts);
                listed.get(usize::from(number) % listed.len().max(1)).cloned()
            }),
        };
        Some((spec.name, value?))
    }
}

fn between(spec: &ParamSpec, place: u16) -> Option<String> {
    let (min, max) = (spec.range.0.max(1e-6), spec.range.1);
    let magnitude = min * (max / min).powf(f64::from(place) / 65535.0);
    let mut values = values::of_magnitude(spec.kind, magnitude.clamp(spec.range.0, max));
    values.retain(|value| spec.check(value.clone()).is_ok());
    values.get(usize::from(place) % values.len().max(1)).map(ToString::to_string)
}
