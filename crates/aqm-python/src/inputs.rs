//! The inputs of a scenario: captures and link traces, parsed once from bytes read by Python.

use crate::error::input;
use crate::stacks::stacks;
use aqm_io::capture::{self, Answer, CapturedPacket, Delivery, FiveTuple, Loss, RoundTrip};
use aqm_io::link_trace;
use aqm_sim::scenario::inputs;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A capture, parsed.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct Capture(Arc<capture::Capture>);

#[pymethods]
impl Capture {
    #[new]
    fn new(py: Python<'_>, name: &str, content: &[u8]) -> PyResult<Capture> {
        let parsed = py.detach(|| capture::Capture::parse(name, content)).map_err(input)?;
        Ok(Capture(Arc::new(parsed)))
    }

    /// Refuses what does not begin as a capture does, before all of it is read.
    #[staticmethod]
    fn check_beginning(name: &str, beginning: &[u8]) -> PyResult<()> {
        capture::Capture::check_beginning(name, beginning).map_err(input)
    }

    /// Statistics and warnings, as JSON.
    fn summary(&self) -> String {
        let summary = self.0.summary();
        let figures = json!({
            "packets": summary.packets,
            "bytes": summary.bytes,
            "duration_ns": summary.duration.as_nanos(),
            "mean_rate_bps": summary.mean_rate().map(|rate| rate.as_bits_per_sec()),
            "flows": summary.flows,
            "skipped": summary.skipped.to_string(),
            "warnings": self.0.warnings(),
        });
        figures.to_string()
    }

    /// Columns of its flows, one entry per flow; hashes are the flow ids that disciplines see.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let flows = self.0.flows();
        let columns = PyDict::new(py);
        let text = |get: fn(&FiveTuple) -> String| {
            flows.iter().map(|flow| get(&flow.five_tuple)).collect::<Vec<_>>()
        };
        columns.set_item("source", text(|tuple| tuple.source.to_string()))?;
        columns
            .set_item("source_port", flows.iter().map(|flow| flow.five_tuple.ports.0).collect::<Vec<_>>())?;
        columns.set_item("destination", text(|tuple| tuple.destination.to_string()))?;
        columns.set_item(
            "destination_port",
            flows.iter().map(|flow| flow.five_tuple.ports.1).collect::<Vec<_>>(),
        )?;
        // As a list, not as bytes.
        columns.set_item(
            "protocol",
            flows.iter().map(|flow| u32::from(flow.five_tuple.protocol)).collect::<Vec<_>>(),
        )?;
        columns.set_item("hash", flows.iter().map(|flow| flow.hash).collect::<Vec<_>>())?;
        columns.set_item("packets", flows.iter().map(|flow| flow.packets).collect::<Vec<_>>())?;
        columns.set_item("bytes", flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>())?;
        Ok(columns)
    }

    /// Time (ns), IP bytes and flow of each packet, as the bytes of 64-bit whole numbers, little-endian.
    fn packets<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>) {
        let column = |get: fn(&CapturedPacket) -> u64| {
            let bytes: Vec<u8> =
                self.0.packets().iter().flat_map(|packet| get(packet).to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        (
            column(|packet| packet.time.as_nanos()),
            column(|packet| packet.length.into()),
            column(|packet| packet.flow.into()),
        )
    }

    /// The largest file that is parsed, in bytes.
    #[classattr]
    const LARGEST_FILE_BYTES: u64 = capture::Capture::LARGEST_FILE_BYTES;
}

/// A capture, and what TCP's headers say about the path.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct PathTrace {
    capture: Arc<capture::Capture>,
    trace: capture::PathTrace,
}

#[pymethods]
impl PathTrace {
    #[new]
    fn new(py: Python<'_>, name: &str, content: &[u8]) -> PyResult<PathTrace> {
        let (capture, trace) =
            py.detach(|| capture::Capture::parse_with_path(name, content)).map_err(input)?;
        Ok(PathTrace { capture: Arc::new(capture), trace })
    }

    /// The capture itself.
    fn capture(&self) -> Capture {
        Capture(Arc::clone(&self.capture))
    }

    /// Its statistics and warnings, as JSON.
    fn summary(&self) -> String {
        self.capture().summary()
    }

    /// Columns of its packets. What a packet does not say is -1.
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let both = || self.capture.packets().iter().zip(&self.trace.stamps);
        let columns = PyDict::new(py);
        let add = |name: &str, get: fn(&CapturedPacket, Option<(u32, u32)>) -> i64| {
            columns.set_item(name, whole(py, both().map(|(packet, stamps)| get(packet, *stamps))))
        };
        add("time", |packet, _| packet.time.as_nanos() as i64)?;
        add("length", |packet, _| packet.length.into())?;
        add("flow", |packet, _| packet.flow.into())?;
        add("ecn", |packet, _| packet.ecn as i64)?;
        add("payload", |packet, _| packet.tcp.map_or(-1, |tcp| tcp.payload.into()))?;
        add("flags", |packet, _| packet.tcp.map_or(-1, |tcp| tcp.flags.into()))?;
        add("stamp", |_, stamps| stamps.map_or(-1, |(own, _)| own.into()))?;
        add("echo", |_, stamps| stamps.map_or(-1, |(_, echo)| echo.into()))?;
        Ok(columns)
    }

    /// Columns of its round trips.
    fn round_trips<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let add = |name: &str, get: fn(&RoundTrip) -> i64| {
            columns.set_item(name, whole(py, self.trace.round_trips.iter().map(get)))
        };
        add("flow", |one| one.flow.into())?;
        add("answered_by", |one| one.answered_by.into())?;
        add("at", |one| one.at.as_nanos() as i64)?;
        add("time", |one| one.time.as_nanos() as i64)?;
        add("pause", |one| one.pause.as_nanos() as i64)?;
        add("is_echo", |one| i64::from(one.answer == Answer::Echo))?;
        add("is_data", |one| one.is_data.into())?;
        add("is_opening", |one| one.is_opening.into())?;
        Ok(columns)
    }

    /// Columns of what is reported as arrived.
    fn deliveries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let add = |name: &str, get: fn(&Delivery) -> i64| {
            columns.set_item(name, whole(py, self.trace.deliveries.iter().map(get)))
        };
        add("flow", |one| one.flow.into())?;
        add("packet", |one| one.packet.into())?;
        add("at", |one| one.at.as_nanos() as i64)?;
        add("bytes", |one| one.bytes as i64)?;
        Ok(columns)
    }

    /// Columns of its losses.
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let add = |name: &str, get: fn(&Loss) -> i64| {
            columns.set_item(name, whole(py, self.trace.losses.iter().map(get)))
        };
        add("flow", |one| one.flow.into())?;
        add("at", |one| one.at.as_nanos() as i64)?;
        add("mended", |one| one.mended.as_nanos() as i64)?;
        add("bytes", |one| one.bytes as i64)?;
        add("is_beyond", |one| one.is_beyond.into())?;
        Ok(columns)
    }
}

/// Whole numbers of 64 bits, little-endian.
fn whole(py: Python<'_>, values: impl Iterator<Item = i64>) -> Bound<'_, PyBytes> {
    let bytes: Vec<u8> = values.flat_map(i64::to_le_bytes).collect();
    PyBytes::new(py, &bytes)
}

/// A link trace, parsed.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct LinkTrace(link_trace::LinkTrace);

#[pymethods]
impl LinkTrace {
    #[new]
    fn new(py: Python<'_>, name: &str, content: &[u8]) -> PyResult<LinkTrace> {
        py.detach(|| link_trace::LinkTrace::parse(name, content)).map(LinkTrace).map_err(input)
    }

    /// Period, mean rate and number of opportunities, as JSON.
    fn summary(&self) -> String {
        let summary = json!({
            "period_ns": self.0.period().as_nanos(),
            "mean_rate_bps": self.0.mean_rate().as_bits_per_sec(),
            "opportunities": self.0.opportunities_ms().len(),
        });
        summary.to_string()
    }

    /// The largest file that is parsed, in bytes.
    #[classattr]
    const LARGEST_FILE_BYTES: u64 = link_trace::LinkTrace::LARGEST_FILE_BYTES;
}

/// Captures and link traces by the names that scenarios use, and the real transports there are; runs share them.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct Inputs(pub(crate) inputs::Inputs);

#[pymethods]
impl Inputs {
    #[new]
    #[pyo3(signature = (captures = BTreeMap::new(), link_traces = BTreeMap::new()))]
    fn new(
        captures: BTreeMap<String, Py<Capture>>,
        link_traces: BTreeMap<String, Py<LinkTrace>>,
    ) -> PyResult<Inputs> {
        let mut inputs = inputs::Inputs::default();
        for (name, capture) in &captures {
            inputs.add_capture(name, Arc::clone(&capture.get().0));
        }
        for (name, trace) in &link_traces {
            inputs.add_link_trace(name, trace.get().0.clone());
        }
        inputs.add_extension(&aqm_papers::EXTENSION);
        for stack in stacks() {
            inputs.add_stack(stack).map_err(input)?;
        }
        Ok(Inputs(inputs))
    }

    /// The opportunities of a link trace's first round, in milliseconds: whole numbers of 64 bits, little-endian.
    fn opportunities_ms<'py>(&self, py: Python<'py>, link_trace: &str) -> PyResult<Bound<'py, PyBytes>> {
        let trace = self.0.link_trace(link_trace).map_err(input)?;
        Ok(whole(py, trace.opportunities_ms().iter().map(|&at| i64::from(at))))
    }
}
