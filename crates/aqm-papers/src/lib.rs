#![doc = include_str!("../README.md")]
//! # Inside
//!
//! What the programs of papers' authors do and the field does not: a room of its own, so that `aqm-core` and `aqm-sim` speak
//! of the field alone.
//!
//! A host registers it by plain lists. The library of Python does, hence the command line, files and experiments; the test
//! bench, the C interface, the playground and the disciplines of live links do not know it.
//!
//! - [`DISCIPLINES`]: dAQM as its authors' program does it, and with the other choices that its paper leaves open.
//! - [`RATE_CONTROLS`]: PMQECN's sender, and the senders that its authors ran.
//! - [`SOCKETS`]: how dAQM's senders use theirs, in ns-3.
//! - [`PROGRAMS`]: PMQECN's program of a switch, with its model and optimizer.
//! - [`OBSERVERS`]: measurements of authors' programs, which a scenario asks for (`observe`), and their metrics.
//! - [`EXTENSION`]: all but the disciplines, as the simulator takes them, for [`Inputs::add_extension`].
//!
//! [`Inputs::add_extension`]: aqm_sim::scenario::inputs::Inputs::add_extension

pub mod daqm_artifact;
mod flow_monitor;
pub mod pmqecn;
mod queue_average;

use aqm_core::discipline::Info;
use aqm_core::discipline::daqm;
use aqm_core::input_error::InputError;
use aqm_core::law::features::NAMES;
use aqm_core::params::{ParamError, same_name};
use aqm_core::spec::{Spec, SpecError};
use aqm_sim::extension::Extension;
use aqm_sim::switch::declaration;
use aqm_sim::transport::socket;
use aqm_sim::{observer, rate_control};

/// Rate controls, in the order of listings.
pub static RATE_CONTROLS: &[&rate_control::Info] = &[
    &pmqecn::sender::INFO,
    &pmqecn::sender::AS_RUN,
    &pmqecn::sender::BOUNDED,
    &pmqecn::sender::DCQCN_AS_RUN,
    &pmqecn::sender::P4QCN_AS_RUN,
    &pmqecn::sender::TCN_AS_RUN,
];

/// Disciplines, in the order of listings; [`spec`] reads them.
pub static DISCIPLINES: &[&Info] = &[&daqm_artifact::INFO];

/// Reads one of these disciplines in tc's notation; `None` if the text names none of them.
///
/// ```
/// let spec = aqm_papers::spec("daqm_artifact:daqm3 nodestroy").unwrap().unwrap();
/// assert_eq!(spec.to_string(), "daqm_artifact:daqm3 nodestroy");
/// assert!(aqm_papers::spec("codel").is_none());
/// let error = aqm_papers::spec("daqm_artifact:daqm4").unwrap().unwrap_err();
/// assert!(error.to_string().starts_with("daqm_artifact has no preset 'daqm4', did you mean 'daqm1'?"), "{error}");
/// ```
pub fn spec(text: &str) -> Option<Result<Spec, InputError>> {
    let name = text.trim_start().split([':', ' ']).next()?;
    DISCIPLINES.iter().find(|info| same_name(info.name, name))?;
    Some(Spec::parse_among(text, DISCIPLINES).map_err(InputError::from))
}

/// What to write in place of a parameter that a discipline of aqm-core had before; `None` for any other error.
///
/// ```
/// use aqm_core::spec::Spec;
/// let error = Spec::parse("daqm reading artifact").unwrap_err();
/// assert_eq!(aqm_papers::renamed(&error).unwrap(), "daqm_artifact has it: its 'method'");
/// let error = Spec::parse("daqm s1 0.5").unwrap_err();
/// assert_eq!(aqm_papers::renamed(&error).unwrap(), "write features [s1 THRESHOLD]; daqm_artifact has it, too");
/// ```
pub fn renamed(error: &SpecError) -> Option<String> {
    let SpecError::Param { name: "daqm", error: ParamError { param, .. } } = error else {
        return None;
    };
    if Spec::of(&daqm::INFO, &daqm::INFO.presets[0]).params.names().any(|known| same_name(known, param)) {
        return None;
    }
    if param == "reading" {
        return Some("daqm_artifact has it: its 'method'".to_owned());
    }
    if NAMES.contains(&param.as_str()) {
        return Some(format!("write features [{param} THRESHOLD]; daqm_artifact has it, too"));
    }
    let flag = param.strip_prefix("no").unwrap_or(param);
    let has = |name: &str| daqm_artifact::INFO.params.iter().any(|known| same_name(known.name, name));
    (has(param) || has(flag)).then(|| "daqm_artifact has it".to_owned())
}

/// Sockets of flows over TCP.
pub static SOCKETS: &[&socket::Info] = &[&daqm_artifact::socket::INFO];

/// Programs of switches, in the order of listings.
pub static PROGRAMS: &[&declaration::Info] = &[&pmqecn::data_plane::INFO];

/// Observers, in the order of listings.
pub static OBSERVERS: &[&observer::Info] = &[&queue_average::INFO, &flow_monitor::INFO];

/// What the simulator takes.
pub static EXTENSION: Extension = Extension {
    name: "papers",
    rate_controls: RATE_CONTROLS,
    programs: PROGRAMS,
    observers: OBSERVERS,
    sockets: SOCKETS,
    ..Extension::NOTHING
};
