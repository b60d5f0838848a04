//! The inputs of a scenario: captures and link traces, parsed once from bytes read by Python.

use crate::error::input;
use aqm_io::capture::{self, CapturedPacket, FiveTuple};
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

/// Captures and link traces by the names that scenarios use; runs share them.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct Inputs(pub(crate) inputs::Inputs);

#[pymethods]
impl Inputs {
    #[new]
    #[pyo3(signature = (captures = BTreeMap::new(), link_traces = BTreeMap::new()))]
    fn new(captures: BTreeMap<String, Py<Capture>>, link_traces: BTreeMap<String, Py<LinkTrace>>) -> Inputs {
        let mut inputs = inputs::Inputs::default();
        for (name, capture) in &captures {
            inputs.add_capture(name, Arc::clone(&capture.get().0));
        }
        for (name, trace) in &link_traces {
            inputs.add_link_trace(name, trace.get().0.clone());
        }
        Inputs(inputs)
    }
}
