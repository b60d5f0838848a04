//! What came of a run, and assertions about it.

use crate::check::Check;
use crate::figure;
use aqm_core::input_error::InputError;
use aqm_core::units::{Rate, Span};
use aqm_sim::metrics::registry::METRICS;
use aqm_sim::report::{FlowRow, Report};
use aqm_sim::scenario::{Capacity, Scenario};
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
    quantity: &'static str,
    /// Whose it is, if it is not the whole path's.
    group: Option<String>,
    /// That of a metric that was asked for by name.
    name: Option<String>,
    unit: &'static str,
    /// None if the run has no such figure, because a flow has not completed, say.
    value: Option<f64>,
}

impl Outcome {
    pub(crate) fn new(report: Report, scenario: &Scenario, seed: u64, folder: PathBuf) -> Outcome {
        let groups: Vec<String> =
            scenario.flows.iter().map(|group| format!("{} {}", group.count, group.name)).collect();
        let link = match &scenario.capacity {
            Capacity::RateBps(rate) => Rate::from_bits_per_sec(*rate).to_string(),
            Capacity::Trace(name) => name.clone(),
        };
        let (rtt, aqm, flows) = (Span::from_nanos(scenario.rtt_ns), &scenario.aqm, groups.join(", "));
        Outcome { report, title: format!("{link}, {rtt}, {aqm}: {flows}, seed {seed}"), folder }
    }

    /// Everything that the simulator says about the run.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What was run, in one line: rate and round-trip time, the discipline, the flows, the seed.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Payload that a group's applications got, all its flows together, Mbit/s.
    #[track_caller]
    pub fn goodput(&self, group: &str) -> MeasuredValue<'_> {
        let sum = self.group(group).map(|flow| flow.goodput_mbit).sum();
        self.of_group("goodput", group, " Mbit/s", Some(sum))
    }

    /// Share of the link's capacity that was used, headers included: 1 if it was never idle.
    pub fn utilization(&self) -> MeasuredValue<'_> {
        self.of_path("utilization", "", self.value("utilization"))
    }

    /// Mean sojourn time in the bottleneck's queue, ms.
    pub fn qdelay_mean(&self) -> MeasuredValue<'_> {
        self.of_path("mean queue delay", " ms", self.value("qdelay_mean_ms"))
    }

    /// 99th percentile of the sojourn time in the bottleneck's queue, ms.
    pub fn qdelay_p99(&self) -> MeasuredValue<'_> {
        self.of_path("queue delay (99th percentile)", " ms", self.value("qdelay_p99_ms"))
    }

    /// Jain's index of the goodputs of all flows: 1 if all get the same.
    pub fn fairness(&self) -> MeasuredValue<'_> {
        let goodputs = || self.report.flows.iter().map(|flow| flow.goodput_mbit);
        let (sum, squares) = (goodputs().sum::<f64>(), goodputs().map(|each| each * each).sum::<f64>());
        let index = sum * sum / (goodputs().count() as f64 * squares);
        self.of_path("fairness (Jain's index)", "", index.is_finite().then_some(index))
    }

    /// Share of a group's packets that the bottleneck's queue dropped.
    #[track_caller]
    pub fn loss(&self, group: &str) -> MeasuredValue<'_> {
        let (dropped, arrived) = self
            .group(group)
            .fold((0, 0), |sums, flow| (sums.0 + flow.packets_dropped, sums.1 + flow.packets_arrived));
        let share = (arrived > 0).then(|| dropped as f64 / arrived as f64);
        self.of_group("loss", group, "", share)
    }

    /// When all flows of a group had delivered their `size`, in seconds since the run began; none if one has not.
    #[track_caller]
    pub fn completion(&self, group: &str) -> MeasuredValue<'_> {
        let ends: Vec<f64> = self.group(group).map(|flow| flow.start_s + flow.fct_s).collect();
        let all = ends.iter().all(|end| end.is_finite());
        let last = all.then(|| ends.iter().copied().fold(0.0, f64::max));
        self.of_group("completion", group, " s", last)
    }

    /// Asserts that all flows of a group had delivered their `size` this many seconds after the run began.
    #[track_caller]
    pub fn completed_by(&self, group: &str, seconds: f64) {
        self.completion(group).at_most(seconds);
    }

    /// Any metric of the run by its name, as `qdelay_p95_ms` or `class.cubic.loss_ratio`: the command line lists them
    /// (`aqmlab metrics list`).
    ///
    /// # Panics
    /// If there is none of that name, with the nearest names.
    #[track_caller]
    pub fn metric(&self, name: &str) -> MeasuredValue<'_> {
        let metrics = &self.report.metrics;
        let known = || metrics.keys().map(String::as_str);
        // One that is undefined here has no entry, but its group or port has others.
        let (whose, plain) = name.rsplit_once('.').map_or(("", name), |(whose, plain)| (whose, plain));
        let is_metric = METRICS.iter().any(|metric| metric.name() == plain);
        let has_place = whose.is_empty()
            || known().any(|one| one.strip_prefix(whose).is_some_and(|rest| rest.starts_with('.')));
        let exists = metrics.contains_key(name) || (is_metric && has_place);
        if !exists {
            panic!("{}", InputError::unknown("metric", name, known()));
        }
        MeasuredValue { name: Some(name.to_owned()), ..self.of_path("", "", self.value(name)) }
    }

    #[track_caller]
    fn group(&self, name: &str) -> impl Iterator<Item = &FlowRow> {
        let mut known: Vec<&str> = self.report.flows.iter().map(|flow| flow.group.as_str()).collect();
        known.dedup();
        if !known.contains(&name) {
            panic!("{}", InputError::unknown("group of flows", name, known.into_iter()));
        }
        let name = name.to_owned();
        self.report.flows.iter().filter(move |flow| flow.group == name)
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.report.metrics.get(name).copied()
    }

    fn of_path(&self, quantity: &'static str, unit: &'static str, value: Option<f64>) -> MeasuredValue<'_> {
        MeasuredValue { outcome: self, quantity, group: None, name: None, unit, value }
    }

    fn of_group(
        &self,
        quantity: &'static str,
        group: &str,
        unit: &'static str,
        value: Option<f64>,
    ) -> MeasuredValue<'_> {
        MeasuredValue { group: Some(group.to_owned()), ..self.of_path(quantity, unit, value) }
    }

    /// Writes the figure and the capture, and says where they are.
    pub(crate) fn write_files(&self) -> String {
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
        self.assert(&self.is_at_least(least));
    }

    /// Asserts that it is no more.
    #[track_caller]
    pub fn at_most(&self, most: f64) {
        self.assert(&self.is_at_most(most));
    }

    /// Whether it is no less, without a panic.
    pub fn is_at_least(&self, least: f64) -> Check {
        self.check("at least", least, |value| least - value)
    }

    /// Whether it is no more, without a panic.
    pub fn is_at_most(&self, most: f64) -> Check {
        self.check("at most", most, |value| value - most)
    }

    fn check(&self, relation: &str, bound: f64, excess: impl FnOnce(f64) -> f64) -> Check {
        let quantity = self.name.as_deref().unwrap_or(self.quantity);
        let of = self.group.as_ref().map_or(String::new(), |group| format!(" of {group}"));
        Check {
            quantity: format!("{quantity}{of}"),
            bound: format!("{relation} {bound}{}", self.unit),
            condition: format!("{quantity} {relation} {bound}{}", self.unit),
            found: self.value.map_or_else(
                || "undefined (nothing arrived, or not all flows have a size and completed)".to_owned(),
                |value| format!("{value:.4}{}", self.unit),
            ),
            excess: self.value.map(excess).filter(|excess| !excess.is_nan()).unwrap_or(f64::INFINITY),
        }
    }

    #[track_caller]
    fn assert(&self, check: &Check) {
        if check.holds() {
            return;
        }
        let outcome = self.outcome;
        let mut lines = vec![
            format!("{} is {}: it must be {}", check.quantity, check.found, check.bound),
            outcome.title.clone(),
        ];
        lines.extend(outcome.report.warnings.iter().cloned());
        lines.push(outcome.write_files());
        panic!("{}", lines.join("\n"));
    }
}
