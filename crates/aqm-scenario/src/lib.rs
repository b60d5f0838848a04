#![doc = include_str!("../README.md")]
//! # Inside
//!
//! From what people write to what the laboratory runs: the one resolver behind every door.
//!
//! A discipline is written in the laboratory's own notation ([`aqm_core::spec`]), or pasted from tc ([`tc`]): a command,
//! the lines of `tc qdisc show`, or its JSON. Command line, files, Python, C, the test bench and the playground read it
//! here.
//!
//! Rooms use only those before them.
//!
//! - [`options`]: options as text, by their declared names.
//! - [`buffer`]: the buffer of a bottleneck; [`warmup`]: the time that is not measured; [`sweep`]: the values that are tried.
//! - [`tc`]: disciplines and links in tc's notation.
//! - [`flows`]: groups of flows.
//! - `link_files`: the files that kinds of links name.
//! - [`topology`]: topologies by name, and files of links.
//! - [`schema`]: JSON Schemas of experiment files and scenarios.
//! - [`resolve`]: from options to a scenario.
#![forbid(unsafe_code)]

pub mod buffer;
pub mod flows;
mod link_files;
pub mod options;
pub mod resolve;
pub mod schema;
pub mod sweep;
pub mod tc;
pub mod topology;
pub mod warmup;

use aqm_core::input_error::InputError;
use aqm_core::params::{Kind, Value};
use aqm_core::spec::Spec;
use aqm_core::units::Size;

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

/// The limit that a discipline was given, if it has one.
pub fn limit_of(spec: &Spec) -> Option<Size> {
    let has = spec.params.names().any(|name| name == LIMIT) && spec.params.is_given(LIMIT);
    if has { spec.params.size(LIMIT) } else { None }
}

/// A discipline with a buffer: its limit, if it has such a parameter and was given none.
///
/// ```
/// use aqm_core::units::Size;
/// use aqm_scenario::{discipline, holding};
/// let buffered = |text| holding(discipline(text).unwrap(), Size::Packets(50)).unwrap().to_string();
/// assert_eq!(buffered("codel target 10ms"), "codel:rfc8289 limit 50p target 10ms");
/// assert_eq!(buffered("codel limit 1000p"), "codel:rfc8289 limit 1000p");
/// ```
///
/// # Errors
/// If the limit may not be as small or as large.
pub fn holding(mut spec: Spec, buffer: Size) -> Result<Spec, InputError> {
    let is_size = |kind| matches!(kind, Kind::Size);
    let takes = spec.info.params.iter().any(|param| param.name == LIMIT && is_size(param.kind));
    if takes && !spec.params.is_given(LIMIT) {
        let set = spec.params.set(LIMIT, Value::Size(buffer));
        set.map_err(|error| InputError::from(error).within(spec.info.name))?;
    }
    Ok(spec)
}

const LIMIT: &str = "limit";
