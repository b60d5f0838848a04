//! What a home's line should have: the rule of `aqm-advice`, in and out as JSON.

use crate::error::input;
use aqm_advice::choice::{self, Means, Ranked};
use aqm_advice::figures::{self, Difference, FIGURES};
use aqm_advice::layer::{ALIASES, LAYERS};
use aqm_advice::paste::System;
use aqm_advice::{Layer, Line, Setup, household, paste, setups};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The link layers, and other names of theirs.
#[pyfunction]
pub(crate) fn advice_layers() -> PyResult<String> {
    written(&json!({ "layers": LAYERS, "aliases": ALIASES.into_iter().collect::<BTreeMap<_, _>>() }))
}

/// A link layer with other bytes around each packet.
#[pyfunction]
pub(crate) fn advice_with_overhead(layer: &str, count: u32) -> PyResult<String> {
    written(&read::<Layer>(layer)?.with_overhead(count))
}

/// What a line's modem holds, what it carries, and how it is asked about.
#[pyfunction]
pub(crate) fn advice_line(line: &str) -> PyResult<String> {
    let line: Line = read(line)?;
    let carried = [line.down_bps, line.up_bps].map(|rate| line.layer.carried(rate));
    written(&json!({ "buffers": line.buffers(), "carried": carried, "plan": household::plan(&line) }))
}

/// The setups of a line, each with what it sets.
#[pyfunction]
pub(crate) fn advice_setups(line: &str, only_usual: bool) -> PyResult<String> {
    let line: Line = read(line)?;
    let found = setups::setups(&line, only_usual);
    written(
        &found
            .iter()
            .map(|setup| json!({ "setup": setup, "sets": household::setting(&line, setup) }))
            .collect::<Vec<_>>(),
    )
}

/// The rates of a shaper with a share of a line's.
#[pyfunction]
pub(crate) fn advice_shaped(line: &str, share: f64) -> PyResult<(u64, u64)> {
    let [down, up] = read::<Line>(line)?.shaped(share);
    Ok((down, up))
}

/// CoDel's target and interval for a rate and a round trip, as sqm-scripts set them.
#[pyfunction]
pub(crate) fn advice_target(rate_bps: u64, rtt_us: u64) -> String {
    setups::target(rate_bps, rtt_us)
}

/// The share of the rate that a shaper usually has, and the best score of a call.
#[pyfunction]
pub(crate) fn advice_usual() -> (f64, f64) {
    (setups::USUAL_SHARE, figures::BEST_MOS)
}

/// The steps of the scale of degradations: noticeable, slightly annoying, annoying, and the most.
#[pyfunction]
pub(crate) fn advice_steps() -> (f64, f64, f64, f64) {
    (figures::NOTICEABLE_STEPS, figures::SLIGHT_STEPS, figures::ANNOYING_STEPS, figures::MOST_STEPS)
}

/// How well routers support a setup, by its name.
#[pyfunction]
pub(crate) fn advice_support(setup: &str) -> u8 {
    setups::support(setup)
}

/// What a household notices.
#[pyfunction]
pub(crate) fn advice_figures() -> PyResult<String> {
    written(&FIGURES)
}

/// A difference beside a best value.
#[pyfunction]
pub(crate) fn advice_difference(least: f64, share: f64, best: f64) -> f64 {
    Difference { least, share, source: "" }.of(best)
}

/// How far a value of a figure is behind the best one, in steps.
#[pyfunction]
pub(crate) fn advice_shortfall(figure: &str, value: f64, best: f64) -> PyResult<f64> {
    let found = FIGURES.iter().find(|one| one.name == figure);
    found.map(|one| one.shortfall(value, best)).ok_or_else(|| input(format!("unknown figure {figure}")))
}

/// What a household notices of a run by its metrics, what stands for what it does not, and what is shown beside.
#[pyfunction]
pub(crate) fn advice_of_run(metrics: &str, minutes: f64) -> PyResult<String> {
    let run: Map<String, Value> = read(metrics)?;
    let values: BTreeMap<_, _> = FIGURES.iter().map(|one| (one.name, one.value(&run, minutes))).collect();
    let unseen: BTreeMap<_, _> = FIGURES.iter().map(|one| (one.name, one.unseen(minutes))).collect();
    let beside = json!({ figures::PING: figures::ping_increase_ms(&run), figures::RPM: figures::rpm(&run) });
    written(&json!({ "values": values, "unseen": unseen, "beside": beside }))
}

/// The grades: below which increase of pings, in milliseconds, a line has which; the last is for all others.
#[pyfunction]
pub(crate) fn advice_grades() -> (Vec<(f64, &'static str)>, &'static str) {
    (choice::GRADES.to_vec(), choice::WORST_GRADE)
}

/// The grade of an increase of pings.
#[pyfunction]
pub(crate) fn advice_grade(increase_ms: f64) -> &'static str {
    choice::grade(increase_ms)
}

/// How far each setup is behind.
#[pyfunction]
pub(crate) fn advice_ranked(means: &str) -> PyResult<String> {
    written(&choice::ranked(&read::<Vec<Means>>(means)?))
}

/// The setup to take, by its name.
#[pyfunction]
pub(crate) fn advice_best(ranked: &str) -> PyResult<String> {
    let setups: Vec<Ranked> = read(ranked)?;
    choice::best(&setups).map(|one| one.name.clone()).ok_or_else(|| input("no setup is given".to_owned()))
}

/// The interface of a line on Linux and on OpenWrt, that which is given if one is, and what is wrong with it.
#[pyfunction]
pub(crate) fn advice_interfaces(line: &str, interface: &str) -> PyResult<(String, String, Option<String>)> {
    let line = read(line)?;
    if interface.is_empty() {
        let [linux, openwrt] =
            [System::Linux, System::OpenWrt].map(|one| paste::interface(&line, one).to_owned());
        return Ok((linux, openwrt, None));
    }
    Ok((interface.to_owned(), interface.to_owned(), paste::notice(&line, interface)))
}

/// The lines of tc for a setup.
#[pyfunction]
pub(crate) fn advice_tc(setup: &str, line: &str, interface: &str) -> PyResult<Vec<String>> {
    Ok(paste::tc(&read(setup)?, &read(line)?, interface))
}

/// The lines that take them back.
#[pyfunction]
pub(crate) fn advice_undo(setup: &str, line: &str, interface: &str) -> PyResult<Vec<String>> {
    Ok(paste::undo(&read(setup)?, &read(line)?, interface))
}

/// OpenWrt's lines for a setup.
#[pyfunction]
pub(crate) fn advice_sqm(setup: &str, line: &str, interface: &str) -> PyResult<Vec<String>> {
    Ok(paste::sqm(&read(setup)?, &read(line)?, interface))
}

/// Whether OpenWrt's SQM has a script for a setup.
#[pyfunction]
pub(crate) fn advice_has_script(setup: &str) -> PyResult<bool> {
    Ok(paste::script(&read::<Setup>(setup)?).is_some())
}

fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| input(error.to_string()))
}

fn written(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| input(error.to_string()))
}
