//! From what people write to what the laboratory runs: the one door for the text of a discipline.
//!
//! A discipline is written in the laboratory's own notation ([`aqm_core::spec`]), or pasted from tc ([`tc`]): a command,
//! the lines of `tc qdisc show`, or its JSON. Command line, files, Python, C, the test bench and the playground read it
//! here.
#![forbid(unsafe_code)]

pub mod tc;

use aqm_core::input_error::InputError;
use aqm_core::spec::Spec;
use std::borrow::Cow;

/// Reads a discipline in the laboratory's notation or in tc's. The refusal of a text that tc would take says what it is to tc.
///
/// ```
/// let spec = aqm_scenario::discipline("tc qdisc add dev eth0 root pie alpha 2 beta 20").unwrap();
/// assert_eq!(spec.params.number("alpha"), 0.125);
/// let error = aqm_scenario::discipline("pie limit 1000").unwrap_err().to_string();
/// assert!(error.contains("'1000' has no unit"));
/// assert!(error.ends_with("; to tc it is 'pie:linux limit 1000p': tc qdisc add dev eth0 root pie limit 1000"));
/// ```
pub fn discipline(text: &str) -> Result<Spec, InputError> {
    if tc::is_tc(text) {
        return tc::translate(text).map(|translation| translation.spec);
    }
    Spec::parse(text).map_err(|error| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let command = format!("tc qdisc add dev eth0 root {}", words.join(" "));
        match tc::translate(&command) {
            Ok(found) => InputError::from(error).noting(&format!("to tc it is '{}': {command}", found.spec)),
            Err(_) => error.into(),
        }
    })
}

/// A discipline in the laboratory's notation: the text itself, or the translation of tc's.
///
/// ```
/// assert_eq!(aqm_scenario::notation("pie target 5ms").unwrap(), "pie target 5ms");
/// assert_eq!(aqm_scenario::notation("tc qdisc add dev eth0 root pie target 5ms").unwrap(), "pie:linux target 5ms");
/// ```
pub fn notation(text: &str) -> Result<Cow<'_, str>, InputError> {
    let spec = discipline(text)?;
    Ok(if tc::is_tc(text) { Cow::Owned(spec.to_string()) } else { Cow::Borrowed(text) })
}
