//! What a page's visitor writes: read, written and resolved as at every other door.

use aqm_core::input_error::InputError;
use aqm_core::units::Size;
use aqm_path::kind::{Capacity, KindSpec};
use aqm_path::kinds::KINDS;
use aqm_scenario::flows::{Catalogue, NoFiles};
use aqm_scenario::options::Options;
use aqm_scenario::resolve::{FULL_IP_PACKET, Host, resolve};
#[cfg(feature = "sweeps")]
use aqm_scenario::sweep::points::{Point, points};
use aqm_sim::scenario::options::{OptionSpec, find};
use serde_json::{Value, json};

/// The value of an option in base units: `{"option": ..., "text": ...}` gives `{"value": ...}`.
pub(crate) fn read(question: &Value) -> Result<Value, InputError> {
    let (name, text) = (text(question, "option")?, text(question, "text")?);
    let value = declared(name)?.read(text).map_err(|error| error.of_option(name))?;
    Ok(json!({ "value": value }))
}

/// A value in base units as people write it: `{"option": ..., "value": ...}` gives `{"text": ...}`.
pub(crate) fn write(question: &Value) -> Result<Value, InputError> {
    let option = declared(text(question, "option")?)?;
    Ok(json!({ "text": option.write(&question["value"]) }))
}

/// What a link is: `{"text": "KIND key value ..."}` gives `{"kind": ..., "stations": [...], "has_rate": ...}`.
pub(crate) fn link(question: &Value) -> Result<Value, InputError> {
    let link = KindSpec::parse(text(question, "text")?, KINDS).map_err(|error| error.of_option("link"))?;
    let has_rate = link.capacity() != Capacity::OfPath;
    Ok(json!({ "kind": link.kind().name, "stations": link.stations(), "has_rate": has_rate }))
}

/// The scenario of options, `[["rate", "10mbit"], ["flows", "2*cubic"], ...]`; with it come the bytes that its buffer holds of
/// full packets, and how many flows each group has.
pub(crate) fn resolved(question: &Value) -> Result<Value, InputError> {
    let mut options = Options::default();
    for (name, text) in pairs(question)? {
        options.give(name, text)?;
    }
    let known = Catalogue::default();
    let found = resolve(&options, &Host::new(&known, &NoFiles))?;
    let packet = u64::from(FULL_IP_PACKET + found.scenario.overhead_bytes);
    let buffer_bytes = match found.buffer.size {
        Size::Packets(packets) => packets.saturating_mul(packet),
        Size::Bytes(bytes) => bytes,
    };
    let counts: Vec<u32> = found.groups.iter().map(|group| group.count).collect();
    Ok(json!({ "scenario": found.scenario.json(), "buffer_bytes": buffer_bytes, "counts": counts }))
}

/// The scenarios of a sweep: options as of [`resolved`], with `["sweep", "NAME=VALUES"]` for each name that varies.
#[cfg(feature = "sweeps")]
pub(crate) fn swept(question: &Value) -> Result<Value, InputError> {
    let known = Catalogue::default();
    let resolved = |point: &Point| {
        let found = resolve(&point.options, &Host::new(&known, &NoFiles));
        found.map(|found| found.scenario.json()).map_err(|error| point.error(error))
    };
    let points = points(&pairs(question)?)?;
    let scenarios = points.iter().map(resolved);
    Ok(json!({ "scenarios": scenarios.collect::<Result<Vec<_>, _>>()? }))
}

fn pairs(question: &Value) -> Result<Vec<(&str, &str)>, InputError> {
    let all = question.as_array().into_iter().flatten();
    all.map(|pair| pair[0].as_str().zip(pair[1].as_str()))
        .map(|pair| pair.ok_or_else(|| InputError::new("an option is no pair of texts")))
        .collect()
}

fn declared(name: &str) -> Result<&'static OptionSpec, InputError> {
    let names = aqm_scenario::options::of_a_path().map(|option| option.name);
    find(name).ok_or_else(|| InputError::unknown("option", name, names))
}

fn text<'a>(question: &'a Value, name: &str) -> Result<&'a str, InputError> {
    question[name].as_str().ok_or_else(|| InputError::new(format!("{name} is no text")))
}
