//! The registry, specs and this build, described as JSON.

use crate::error::wrong;
use crate::{foreign, notation};
use aqm_core::discipline::Info;
use aqm_core::input_error::InputError;
use aqm_core::link::Link;
use aqm_core::overflow::{Victim, victim};
use aqm_core::params::{Kind, ParamSpec, Preset};
use aqm_core::qdisc::Qdisc;
use aqm_core::random::Random;
use aqm_core::registry::DISCIPLINES;
use aqm_core::spec::Spec;
use aqm_core::units::{Rate, Size};
use aqm_sim::switch::declaration;
use aqm_sim::switch::program::ProgramSpec;
use aqm_sim::switch::programs::PROGRAMS;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// The version of this build.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The commit of the checkout that this was built from, with `+` where its files had been changed; else empty.
#[pyfunction]
pub(crate) fn commit() -> &'static str {
    env!("AQMLAB_COMMIT")
}

/// How this build was made, as JSON; `source` is a hash of the sources that decide results (see `build.rs`).
#[pyfunction]
pub(crate) fn build_info() -> String {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let source = env!("AQMLAB_SOURCE");
    json!({ "version": version(), "source": source, "profile": profile, "target": target }).to_string()
}

/// Every discipline of the registry, in its order, then those of papers, as JSON.
#[pyfunction]
pub(crate) fn disciplines() -> String {
    DISCIPLINES
        .iter()
        .chain(aqm_papers::DISCIPLINES)
        .map(|info| discipline(info))
        .collect::<Value>()
        .to_string()
}

/// The discipline that a text in tc's notation names, as JSON like those of the registry.
#[pyfunction]
pub(crate) fn discipline_of(text: &str) -> PyResult<String> {
    notation::spec(text).map(|spec| discipline(spec.info).to_string()).map_err(wrong)
}

/// Parses a discipline in tc's notation; returns name, preset, canonical form and parameters as JSON.
#[pyfunction]
pub(crate) fn parse_spec(text: &str) -> PyResult<String> {
    Ok(parsed(&notation::spec(text).map_err(wrong)?).to_string())
}

fn parsed(spec: &Spec) -> Value {
    let params: Map<String, Value> = spec
        .params
        .iter()
        .map(|(param, value)| {
            let given = spec.params.is_given(param.name);
            (param.name.to_owned(), json!({ "value": value.to_string(), "given": given }))
        })
        .collect();
    json!({
        "name": spec.info.name,
        "preset": spec.preset.name,
        "canonical": spec.to_string(),
        "params": params,
    })
}

/// Resolves a discipline in tc's notation for a link: with a buffer (so many, of packets or bytes) if it has a limit and
/// was given none, and built once, so that relations between parameters are checked too. Returns what [`parse_spec`] does,
/// and the most that it holds, empty if that is not known.
#[pyfunction]
pub(crate) fn resolve_aqm(text: &str, buffer: (u64, bool), rate_bps: u64) -> PyResult<(String, String)> {
    let link = Link::new(Rate::from_bits_per_sec(rate_bps));
    let size = if buffer.1 { Size::Packets(buffer.0) } else { Size::Bytes(buffer.0) };
    let spec = notation::spec(text).and_then(|spec| aqm_scenario::holding(spec, size)).map_err(wrong)?;
    let total = |qdisc: Qdisc| qdisc.total().map_or_else(String::new, |size| size.to_string());
    let (built, raised) = foreign::staged(None, || spec.build(link, Random::seeded(0)).map(total));
    let total = raised.map_or(built.map_err(wrong), Err)?;
    Ok((parsed(&spec).to_string(), total))
}

/// Whether a text is tc's: a command, a printed line or JSON.
#[pyfunction]
pub(crate) fn is_tc(text: &str) -> bool {
    aqm_scenario::tc::is_tc(text)
}

/// Translates tc's text: the discipline in our notation, and what has no effect here or belongs to the link.
#[pyfunction]
pub(crate) fn translate_tc(text: &str) -> PyResult<(String, Vec<String>)> {
    let found = aqm_scenario::tc::translate(text).map_err(wrong)?;
    Ok((found.spec.to_string(), found.notes))
}

/// Every qdisc of tc that is read or refused by name, with its words, as JSON.
#[pyfunction]
pub(crate) fn tc_table() -> String {
    let entry = |entry: aqm_scenario::tc::Entry| json!({ "name": entry.name, "discipline": entry.discipline, "words": entry.words });
    aqm_scenario::tc::table().into_iter().map(entry).collect::<Value>().to_string()
}

/// A discipline in tc's words, for a link of this rate: what follows `tc qdisc add dev DEV root`.
#[pyfunction]
pub(crate) fn tc_words(text: &str, rate_bps: u64) -> PyResult<String> {
    let spec = notation::spec(text).map_err(wrong)?;
    aqm_scenario::tc::words(&spec, Rate::from_bits_per_sec(rate_bps)).map_err(wrong)
}

/// Which packet the discipline drops when it is full, found by filling it: `tail`, `head`, `longest flow`, `mixed`, `nobody`.
#[pyfunction]
pub(crate) fn overflow_victim(text: &str) -> PyResult<&'static str> {
    let spec = notation::spec(text).map_err(wrong)?;
    let (victim, raised) = foreign::staged(None, || victim(&spec));
    raised.map_or(victim.map(Victim::name).map_err(wrong), Err)
}

/// The programs that switches can run, as JSON.
#[pyfunction]
pub(crate) fn programs() -> String {
    let program = |info: &&declaration::Info| {
        let is_of_papers = aqm_papers::PROGRAMS.iter().any(|one| one.name == info.name);
        json!({
            "name": info.name,
            "extension": if is_of_papers { aqm_papers::EXTENSION.name } else { "" },
            "summary": info.summary,
            "reference": info.reference,
            "telemetry": info.telemetry,
            "feedback": info.feedback,
            "params": info.params.iter().map(param).collect::<Value>(),
            "presets": info.presets.iter().map(preset).collect::<Value>(),
        })
    };
    every_program().iter().map(program).collect::<Value>().to_string()
}

/// The programs of the simulator and those of papers.
pub(crate) fn every_program() -> Vec<&'static declaration::Info> {
    [PROGRAMS, aqm_papers::PROGRAMS].concat()
}

/// Reads a program of a switch.
pub(crate) fn program_spec(text: &str) -> Result<ProgramSpec, InputError> {
    ProgramSpec::parse_among(text, &every_program())
}

fn discipline(info: &'static Info) -> Value {
    json!({
        "name": info.name,
        "extension": if is_of_papers(info) { aqm_papers::EXTENSION.name } else { "" },
        "group": info.group.title(),
        "summary": info.summary,
        "reference": info.reference,
        "deviations": info.deviations,
        "params": info.params.iter().map(param).collect::<Value>(),
        "presets": info.presets.iter().map(preset).collect::<Value>(),
        "probes": info.probes.iter()
            .map(|probe| json!({ "name": probe.name, "unit": probe.unit, "help": probe.help }))
            .collect::<Value>(),
        "traits": {
            "wakes": info.traits.wakes,
            "ecn": info.traits.ecn,
            "drops_queued": info.traits.drops_queued,
            "reorders_flows": info.traits.reorders_flows,
            "reorders_within_flow": info.traits.reorders_within_flow,
            "signals": info.traits.quiet_packets != u64::MAX,
            "flow_state_bytes": info.traits.flow_state_bytes,
        },
        "state_bytes": state_bytes(info),
    })
}

fn is_of_papers(info: &Info) -> bool {
    aqm_papers::DISCIPLINES.iter().any(|one| one.name == info.name)
}

/// Bytes of state at the defaults, packets not counted; none of a class in Python, whose code does not run to be described.
fn state_bytes(info: &'static Info) -> usize {
    if info.name.starts_with(foreign::PREFIX) {
        return 0;
    }
    let link = Link::new(Rate::from_bits_per_sec(10_000_000));
    let spec = Spec::of(info, &info.presets[0]);
    aqm_core::registry::build(info, &spec.params, &link).map_or(0, |built| built.state_bytes())
}

fn param(param: &ParamSpec) -> Value {
    let words: &[&str] = match param.kind {
        Kind::Choice(words) => words,
        _ => &[],
    };
    json!({
        "name": param.name,
        "unit": param.kind.unit(),
        "default": param.default.to_string(),
        "allowed": param.range_text(),
        "words": words,
        "auto": param.auto,
        "help": param.help,
        "reference": param.reference,
    })
}

fn preset(preset: &Preset) -> Value {
    let values: Map<String, Value> =
        preset.values.iter().map(|(name, value)| ((*name).to_owned(), json!(value.to_string()))).collect();
    json!({ "name": preset.name, "source": preset.source, "values": values })
}
