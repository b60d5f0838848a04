//! What came of a run, and assertions about it.

use crate::figure;
use aqm_core::params::did_you_mean;
use aqm_sim::metrics::registry::METRICS;
use aqm_sim::report::{FlowRow, Report};
use aqm_sim::scenario::Scenario;
use std::path::{Path, PathBuf};

/// A finished run. Each figure is [`MeasuredValue`], which is asserted about.
pub struct Outcome {
    report: Report,
    /// What was run, in one line.
    title: String,
    folder: PathBuf,
}

/// A figure of a run.
pub struct MeasuredValue<'a> {
    outcome: &'a Outcome,
    what: String,
    unit: &'static str,
    /// None if the run has no such figure, because a flow has not completed, say.
    value: Option<f64>,
}

impl Outcome {
    pub(crate) fn new(report: Report, scenario: &Scenario, seed: u64, folder: PathBuf) -> Outcome {
        let groups: Vec<String> =
            scenario.flows.iter().map(|group| format!("{} {}", group.count, group.name)).collect();
        Outcome { report, title: format!("{}: {}, seed {seed}", scenario.aqm, groups.join(", ")), folder }
    }

    /// Everything that the simulator says about the run.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Payload that a group's applications got, all its flows together, Mbit/s.
    #[track_caller]
    pub fn goodput(&self, group: &str) -> MeasuredValue<'_> {
        let sum = self.group(group).map(|flow| flow.goodput_mbit).sum();
        self.found(format!("goodput of {group}"), " Mbit/s", Some(sum))
    }

    /// Mean sojourn time in the bottleneck's queue, ms.
    pub fn qdelay_mean(&self) -> MeasuredValue<'_> {
        self.found("mean queue delay".to_owned(), " ms", self.value("qdelay_mean_ms"))
    }

    /// 99th percentile of the sojourn time in the bottleneck's queue, ms.
    pub fn qdelay_p99(&self) -> MeasuredValue<'_> {
        self.found("queue delay, 99th percentile,".to_owned(), " ms", self.value("qdelay_p99_ms"))
    }

    /// Jain's index of the goodputs of all flows: 1 if all get the same.
    pub fn fairness(&self) -> MeasuredValue<'_> {
        let goodputs = || self.report.flows.iter().map(|flow| flow.goodput_mbit);
        let (sum, squares) = (goodputs().sum::<f64>(), goodputs().map(|each| each * each).sum::<f64>());
        let index = sum * sum / (goodputs().count() as f64 * squares);
        self.found("fairness (Jain's index)".to_owned(), "", index.is_finite().then_some(index))
    }

    /// Share of a group's packets that the bottleneck's queue dropped.
    #[track_caller]
    pub fn loss(&self, group: &str) -> MeasuredValue<'_> {
        let (dropped, arrived) = self
            .group(group)
            .fold((0, 0), |sums, flow| (sums.0 + flow.packets_dropped, sums.1 + flow.packets_arrived));
        let share = (arrived > 0).then(|| dropped as f64 / arrived as f64);
        self.found(format!("loss of {group}"), "", share)
    }

    /// Asserts that all flows of a group had delivered their `size` this many seconds after the run began.
    #[track_caller]
    pub fn completed_by(&self, group: &str, seconds: f64) {
        let ends: Vec<f64> = self.group(group).map(|flow| flow.start_s + flow.fct_s).collect();
        let all = ends.iter().all(|end| end.is_finite());
        let last = all.then(|| ends.iter().copied().fold(0.0, f64::max));
        self.found(format!("completion of {group}"), " s", last).at_most(seconds);
    }

    /// Any metric of the run by its name, as `qdelay_p95_ms` or `class.cubic.loss`: the command line lists them
    /// (`aqmlab metrics`).
    ///
    /// # Panics
    /// If there is none of that name.
    #[track_caller]
    pub fn metric(&self, name: &str) -> MeasuredValue<'_> {
        let metrics = &self.report.metrics;
        let plain = name.rsplit('.').next().unwrap_or(name);
        if !metrics.contains_key(name) && METRICS.iter().all(|metric| metric.name() != plain) {
            let hint = did_you_mean(name, metrics.keys().map(String::as_str));
            panic!("there is no metric '{name}'{hint}");
        }
        self.found(name.to_owned(), "", self.value(name))
    }

    #[track_caller]
    fn group(&self, name: &str) -> impl Iterator<Item = &FlowRow> {
        let flows = || self.report.flows.iter().filter(move |flow| flow.group == name);
        if flows().next().is_none() {
            let mut known: Vec<&str> = self.report.flows.iter().map(|flow| flow.group.as_str()).collect();
            known.dedup();
            panic!("there are no flows '{name}'; there are {}", known.join(", "));
        }
        let name = name.to_owned();
        self.report.flows.iter().filter(move |flow| flow.group == name)
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.report.metrics.get(name).copied()
    }

    fn found(&self, what: String, unit: &'static str, value: Option<f64>) -> MeasuredValue<'_> {
        MeasuredValue { outcome: self, what, unit, value }
    }

    /// Writes the figure and the capture, and says where they are.
    fn keep(&self) -> String {
        let svg = figure::draw(&self.title, &self.report);
        let files = [("run.svg", svg.as_bytes()), ("queue.pcapng", self.report.packets.as_slice())];
        // A path without capture has no packets.
        let mut files = files.iter().filter(|(_, bytes)| !bytes.is_empty());
        let names: Vec<&str> = files.clone().map(|(name, _)| *name).collect();
        let folder = Path::display(&self.folder);
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| files.try_for_each(|(name, bytes)| std::fs::write(self.folder.join(name), bytes)))
            .map_or_else(
                |error| format!("nothing could be written to {folder}: {error}"),
                |()| format!("see {} in {folder}", names.join(" and ")),
            )
    }
}

impl MeasuredValue<'_> {
    /// The figure itself; none if the run has no such figure.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Asserts that it is no less.
    #[track_caller]
    pub fn at_least(&self, least: f64) {
        self.assert(|value| value >= least, "at least", least);
    }

    /// Asserts that it is no more.
    #[track_caller]
    pub fn at_most(&self, most: f64) {
        self.assert(|value| value <= most, "at most", most);
    }

    #[track_caller]
    fn assert(&self, holds: impl FnOnce(f64) -> bool, relation: &str, bound: f64) {
        if self.value.is_some_and(holds) {
            return;
        }
        let MeasuredValue { outcome, what, unit, value } = self;
        let found = value.map_or_else(
            || "undefined (nothing arrived, or not all completed)".to_owned(),
            |value| format!("{value:.4}{unit}"),
        );
        let mut lines =
            vec![format!("{what} is {found}: it must be {relation} {bound}{unit}"), outcome.title.clone()];
        lines.extend(outcome.report.warnings.iter().cloned());
        lines.push(outcome.keep());
        panic!("{}", lines.join("\n"));
    }
}
