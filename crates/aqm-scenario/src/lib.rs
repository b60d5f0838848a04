//! From what people write to what the laboratory runs: the one door for the text of a discipline.
//!
//! A discipline is written in the laboratory's own notation ([`aqm_core::spec`]), or pasted from tc ([`tc`]): a command,
//! the lines of `tc qdisc show`, or its JSON. Command line, files, Python, C, the test bench and the playground read it
//! here.
#![forbid(unsafe_code)]

pub mod tc;

use aqm_core::spec::Spec;
use std::borrow::Cow;

/// Reads a discipline in the laboratory's notation or in tc's.
///
/// ```
/// let spec = aqm_scenario::discipline("tc qdisc add dev eth0 root pie alpha 2 beta 20").unwrap();
/// assert_eq!(spec.params.number("alpha"), 0.125);
/// assert!(aqm_scenario::discipline("pie limit 1000").unwrap_err().contains("has no unit"));
/// ```
pub fn discipline(text: &str) -> Result<Spec, String> {
    if tc::is_tc(text) {
        return tc::translate(text).map(|translation| translation.spec);
    }
    Spec::parse(text).map_err(|error| error.to_string())
}

/// A discipline in the laboratory's notation: the text itself, or the translation of tc's.
///
/// ```
/// assert_eq!(aqm_scenario::notation("pie target 5ms").unwrap(), "pie target 5ms");
/// assert_eq!(aqm_scenario::notation("tc qdisc add dev eth0 root pie target 5ms").unwrap(), "pie:linux target 5ms");
/// ```
pub fn notation(text: &str) -> Result<Cow<'_, str>, String> {
    let spec = discipline(text)?;
    Ok(if tc::is_tc(text) { Cow::Owned(spec.to_string()) } else { Cow::Borrowed(text) })
}
