//! Disciplines as text: those of the registry, in their notation or in tc's, and those that only this border knows.

use crate::{commanded, foreign};
use aqm_core::spec::Spec;

/// Reads a discipline.
pub(crate) fn spec(text: &str) -> Result<Spec, String> {
    let text = text.trim_start();
    if text.starts_with(foreign::PREFIX) {
        return foreign::spec(text);
    }
    let end = text.find([':', ' ']).unwrap_or(text.len());
    if &text[..end] == commanded::NAME {
        let params = text.find(' ').map_or("", |space| &text[space..]);
        let spec = Spec::parse_as(&commanded::INFO, &commanded::INFO.presets[0], params);
        return spec.map_err(|error| error.to_string());
    }
    aqm_scenario::discipline(text)
}
