//! One run of the simulator, without Python's global lock, and its report as columns.

use crate::error::{input, of_run, stopped, wrong};
use crate::guest::Guest;
use crate::inputs::Inputs;
use crate::tables::{Parts, Table, Words};
use crate::{foreign, notation};
use aqm_sim::report::{self, Place, Report, TraceRow};
use aqm_sim::scenario::Scenario;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Watches a run from another thread, and can stop it.
#[pyclass(frozen, module = "aqmlab._native")]
#[derive(Default)]
pub(crate) struct Monitor {
    run: Arc<report::Monitor>,
    guest: Arc<Guest>,
}

impl Monitor {
    /// Whether it was asked to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.guest.is_interrupted()
    }

    /// What a run is given of it.
    pub(crate) fn watched(&self) -> (&Arc<report::Monitor>, &Arc<Guest>) {
        (&self.run, &self.guest)
    }
}

#[pymethods]
impl Monitor {
    #[new]
    fn new() -> Monitor {
        Monitor::default()
    }

    /// Simulated time reached so far, nanoseconds.
    #[getter]
    fn reached_ns(&self) -> u64 {
        self.run.reached_ns()
    }

    /// Asks the run to stop, and interrupts its discipline if that is in Python.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.run.cancel();
        self.guest.interrupt(py)
    }
}

/// Runs a scenario (JSON) with its inputs and a seed.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    scenario_json: &str,
    inputs: &Inputs,
    seed: u64,
    monitor: &Monitor,
) -> PyResult<Run> {
    let scenario: Scenario =
        serde_json::from_str(scenario_json).map_err(|error| input(format!("scenario: {error}")))?;
    let aqm = notation::spec(&scenario.aqm).map_err(wrong)?;
    let simulate = || aqm_sim::run_under(&aqm, &scenario, &inputs.0, seed, &monitor.run);
    let simulate = || catch_unwind(AssertUnwindSafe(simulate));
    let (outcome, raised) = py.detach(|| foreign::staged(Some(monitor.watched()), simulate));
    if let Some(error) = raised {
        return Err(error);
    }
    match outcome {
        Ok(Ok(report)) => Ok(Run(report)),
        Ok(Err(error)) => Err(of_run(&error)),
        Err(panic) => Err(stopped(&*panic)),
    }
}

/// Estimates a run of a scenario (JSON) with its inputs: events, bytes of memory during it, and of its result.
#[pyfunction]
pub(crate) fn estimate(py: Python<'_>, scenario_json: &str, inputs: &Inputs) -> PyResult<(f64, f64, f64)> {
    let scenario: Scenario =
        serde_json::from_str(scenario_json).map_err(|error| input(format!("scenario: {error}")))?;
    let aqm = notation::spec(&scenario.aqm).map_err(wrong)?;
    let estimate = || aqm_sim::estimate::estimate(&aqm, &scenario, &inputs.0);
    let estimate = py.detach(|| catch_unwind(AssertUnwindSafe(estimate)));
    let estimate = estimate.map_err(|panic| stopped(&*panic))?.map_err(|error| of_run(&error))?;
    Ok((estimate.events, estimate.memory_bytes, estimate.kept_bytes))
}

/// The result of a run.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct Run(Report);

#[pymethods]
impl Run {
    /// Metric name to value.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, value) in self.0.metrics.iter() {
            // Runs have the same names: each is one object.
            columns.set_item(PyString::intern(py, name), value)?;
        }
        Ok(columns)
    }

    /// The flows, a row for each.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let rows = &self.0.flows;
        let mut table = Table::new(py);
        table.counts("id", rows.iter().map(|row| row.id.into()));
        table.texts("group", rows.iter().map(|row| row.group.as_str()))?;
        table.texts("kind", rows.iter().map(|row| row.kind.as_str()))?;
        table.reals("start_s", rows.iter().map(|row| row.start_s));
        table.reals("rtt_base_ms", rows.iter().map(|row| row.rtt_base_ms));
        table.reals("goodput_mbit", rows.iter().map(|row| row.goodput_mbit));
        table.reals("throughput_mbit", rows.iter().map(|row| row.throughput_mbit));
        table.counts("packets_arrived", rows.iter().map(|row| row.packets_arrived));
        table.counts("packets_dropped", rows.iter().map(|row| row.packets_dropped));
        table.counts("packets_delivered", rows.iter().map(|row| row.packets_delivered));
        table.counts("marks", rows.iter().map(|row| row.marks));
        table.reals("owd_mean_ms", rows.iter().map(|row| row.owd_mean_ms));
        table.reals("qdelay_mean_ms", rows.iter().map(|row| row.qdelay_mean_ms));
        table.reals("rtt_mean_ms", rows.iter().map(|row| row.rtt_mean_ms));
        table.counts("retransmissions", rows.iter().map(|row| row.retransmissions));
        table.counts("recoveries", rows.iter().map(|row| row.recoveries));
        table.counts("timeouts", rows.iter().map(|row| row.timeouts));
        table.reals("fct_s", rows.iter().map(|row| row.fct_s));
        table.reals("size_bytes", rows.iter().map(|row| row.size_bytes));
        table.reals("slowdown", rows.iter().map(|row| row.slowdown));
        table.parts()
    }

    /// The time series, a row for each time: `time_s` first, all of reals.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let mut table = Table::new(py);
        table.reals("time_s", self.0.series.time_s.iter().copied());
        for (name, values) in &self.0.series.columns {
            table.reals(name, values.iter().copied());
        }
        table.parts()
    }

    /// Names of the histograms, how many buckets each has, and for each the middles of its buckets (nanoseconds), then their
    /// counts: 64-bit integers, little-endian.
    #[getter]
    fn histograms<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>, Bound<'py, PyBytes>)> {
        let histograms = &self.0.histograms;
        let mut words = Words::default();
        for histogram in histograms.values() {
            words.wholes(histogram.value_ns.iter().copied());
            words.wholes(histogram.count.iter().copied());
        }
        let names = PyTuple::new(py, histograms.keys().map(|name| PyString::intern(py, name)))?;
        let buckets = PyTuple::new(py, histograms.values().map(|histogram| histogram.count.len()))?;
        Ok((names, buckets, words.bytes(py)))
    }

    /// The queues, a row for each.
    #[getter]
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let rows = &self.0.queues;
        let mut table = Table::new(py);
        table.texts("link", rows.iter().map(|row| row.link.as_str()))?;
        table.texts("discipline", rows.iter().map(|row| row.discipline.as_str()))?;
        table.counts("arrived_packets", rows.iter().map(|row| row.arrived));
        table.counts("arrived_bytes", rows.iter().map(|row| row.arrived_bytes));
        table.counts("departed_packets", rows.iter().map(|row| row.departed));
        table.counts("departed_bytes", rows.iter().map(|row| row.departed_bytes));
        table.counts("dropped_early_packets", rows.iter().map(|row| row.dropped_early));
        table.counts("dropped_overflow_packets", rows.iter().map(|row| row.dropped_overflow));
        table.counts("ack_drops_packets", rows.iter().map(|row| row.ack_drops));
        table.counts("marked_packets", rows.iter().map(|row| row.marked));
        table.counts("backlog_packets", rows.iter().map(|row| row.backlog));
        table.parts()
    }

    /// The recorded packets as pcapng; empty unless the scenario wants them recorded.
    #[getter]
    fn packets<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.packets)
    }

    /// Columns of the trace, each as the bytes of 64-bit integers, little-endian; empty unless the scenario wants one.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.0.trace;
        let columns = PyDict::new(py);
        let column = |get: fn(&TraceRow) -> u64| {
            let mut words = Words::default();
            words.wholes(rows.iter().map(get));
            words.bytes(py)
        };
        columns.set_item("time_ns", column(|row| row.time_ns))?;
        columns.set_item("flow", column(|row| row.flow.into()))?;
        columns.set_item("is_ack", column(|row| row.is_ack.into()))?;
        columns.set_item("number", column(|row| row.number))?;
        columns.set_item("length", column(|row| row.length.into()))?;
        columns.set_item("edge", column(|row| row.edge))?;
        columns.set_item("echo", column(|row| row.echo.into()))?;
        columns.set_item("fate", column(|row| row.fate as u64))?;
        columns.set_item("cwnd_bytes", column(|row| row.sender.cwnd_bytes))?;
        columns.set_item("ssthresh_bytes", column(|row| row.sender.ssthresh_bytes))?;
        columns.set_item("srtt_ns", column(|row| row.sender.srtt_ns))?;
        columns.set_item("rto_ns", column(|row| row.sender.rto_ns))?;
        columns.set_item("phase", column(|row| row.sender.phase.into()))?;
        Ok(columns)
    }

    /// Where something was logged (`sender N`, `queue LINK`) and its events, records of a JSON text sequence; empty unless the
    /// scenario wants it.
    #[getter]
    fn logs<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let name = |place: &Place| match place {
            Place::Sender(flow) => format!("sender {flow}"),
            Place::Queue(link) => format!("queue {link}"),
        };
        self.0.logs.iter().map(|log| (name(&log.place), PyBytes::new(py, &log.events))).collect()
    }

    /// Warnings for the user about this run.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    /// Events that the engine handled.
    #[getter]
    fn events(&self) -> u64 {
        self.0.events
    }

    /// Packets that left the bottleneck, warm-up included.
    #[getter]
    fn bottleneck_packets(&self) -> u64 {
        self.0.bottleneck_packets
    }
}
