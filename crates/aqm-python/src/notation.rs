//! Disciplines as text: those of the registry, in their notation or in tc's, those of papers, and those that only this border knows.

use crate::{commanded, foreign};
use aqm_core::input_error::InputError;
use aqm_core::spec::Spec;

/// Reads a discipline.
pub(crate) fn spec(text: &str) -> Result<Spec, InputError> {
    let text = text.trim_start();
    if text.starts_with(foreign::PREFIX) {
        return foreign::spec(text);
    }
    let end = text.find([':', ' ']).unwrap_or(text.len());
    if &text[..end] == commanded::NAME {
        let params = text.find(' ').map_or("", |space| &text[space..]);
        let spec = Spec::parse_as(&commanded::INFO, &commanded::INFO.presets[0], params);
        return spec.map_err(InputError::from);
    }
    if let Some(of_papers) = aqm_papers::spec(text) {
        return of_papers;
    }
    aqm_scenario::discipline(text).map_err(|refusal| {
        let renamed = Spec::parse(text).err().and_then(|error| aqm_papers::renamed(&error));
        match renamed {
            Some(hint) => refusal.noting(&hint),
            None => refusal,
        }
    })
}
