//! One run of the simulator, without Python's global lock, and its report as columns.

use crate::error::{input, of_run, stopped};
use crate::guest::Guest;
use crate::inputs::Inputs;
use crate::{foreign, notation};
use aqm_sim::report::{self, FlowRow, Place, QueueRow, Report, TraceRow};
use aqm_sim::scenario::Scenario;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
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
    let aqm = notation::spec(&scenario.aqm).map_err(input)?;
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
    let aqm = notation::spec(&scenario.aqm).map_err(input)?;
    let estimate = py.detach(|| aqm_sim::estimate::estimate(&aqm, &scenario, &inputs.0));
    let estimate = estimate.map_err(|error| of_run(&error))?;
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
            columns.set_item(name, value)?;
        }
        Ok(columns)
    }

    /// Columns of the flows, one entry per flow.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.0.flows;
        let columns = PyDict::new(py);
        let text = |get: fn(&FlowRow) -> &String| rows.iter().map(get).collect::<Vec<_>>();
        let count = |get: fn(&FlowRow) -> u64| rows.iter().map(get).collect::<Vec<_>>();
        let real = |get: fn(&FlowRow) -> f64| rows.iter().map(get).collect::<Vec<_>>();
        columns.set_item("id", count(|row| row.id.into()))?;
        columns.set_item("group", text(|row| &row.group))?;
        columns.set_item("kind", text(|row| &row.kind))?;
        columns.set_item("start_s", real(|row| row.start_s))?;
        columns.set_item("rtt_base_ms", real(|row| row.rtt_base_ms))?;
        columns.set_item("goodput_mbit", real(|row| row.goodput_mbit))?;
        columns.set_item("throughput_mbit", real(|row| row.throughput_mbit))?;
        columns.set_item("packets_arrived", count(|row| row.packets_arrived))?;
        columns.set_item("packets_dropped", count(|row| row.packets_dropped))?;
        columns.set_item("packets_delivered", count(|row| row.packets_delivered))?;
        columns.set_item("marks", count(|row| row.marks))?;
        columns.set_item("owd_mean_ms", real(|row| row.owd_mean_ms))?;
        columns.set_item("qdelay_mean_ms", real(|row| row.qdelay_mean_ms))?;
        columns.set_item("rtt_mean_ms", real(|row| row.rtt_mean_ms))?;
        columns.set_item("retransmissions", count(|row| row.retransmissions))?;
        columns.set_item("recoveries", count(|row| row.recoveries))?;
        columns.set_item("timeouts", count(|row| row.timeouts))?;
        columns.set_item("fct_s", real(|row| row.fct_s))?;
        columns.set_item("size_bytes", real(|row| row.size_bytes))?;
        columns.set_item("slowdown", real(|row| row.slowdown))?;
        Ok(columns)
    }

    /// Columns of the time series (`time_s` first), each as the bytes of 64-bit floats, little-endian.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item("time_s", reals(py, &self.0.series.time_s))?;
        for (name, values) in &self.0.series.columns {
            columns.set_item(name, reals(py, values))?;
        }
        Ok(columns)
    }

    /// Histogram name to the middles of its buckets (nanoseconds) and counts, each as the bytes of 64-bit integers,
    /// little-endian.
    #[getter]
    fn histograms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, histogram) in &self.0.histograms {
            columns.set_item(name, (wholes(py, &histogram.value_ns), wholes(py, &histogram.count)))?;
        }
        Ok(columns)
    }

    /// Columns of the queues, one entry per queue.
    #[getter]
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.0.queues;
        let columns = PyDict::new(py);
        let text = |get: fn(&QueueRow) -> &String| rows.iter().map(get).collect::<Vec<_>>();
        let count = |get: fn(&QueueRow) -> u64| rows.iter().map(get).collect::<Vec<_>>();
        columns.set_item("link", text(|row| &row.link))?;
        columns.set_item("discipline", text(|row| &row.discipline))?;
        columns.set_item("arrived_packets", count(|row| row.arrived))?;
        columns.set_item("arrived_bytes", count(|row| row.arrived_bytes))?;
        columns.set_item("departed_packets", count(|row| row.departed))?;
        columns.set_item("departed_bytes", count(|row| row.departed_bytes))?;
        columns.set_item("dropped_early_packets", count(|row| row.dropped_early))?;
        columns.set_item("dropped_overflow_packets", count(|row| row.dropped_overflow))?;
        columns.set_item("marked_packets", count(|row| row.marked))?;
        columns.set_item("backlog_packets", count(|row| row.backlog))?;
        Ok(columns)
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
        let column = |get: fn(&TraceRow) -> u64| wholes(py, &rows.iter().map(get).collect::<Vec<_>>());
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

fn reals<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}

fn wholes<'py>(py: Python<'py>, values: &[u64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}
