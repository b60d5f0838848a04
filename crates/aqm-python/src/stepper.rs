//! A run in steps, for environments to learn in: one call per step.

use crate::error::{input, of_run};
use crate::inputs::Inputs;
use crate::notation;
use aqm_core::spec::Spec;
use aqm_core::units::Span;
use aqm_sim::scenario::Scenario;
use aqm_sim::stepped::Stepped;
use pyo3::prelude::*;

/// What is seen after a step: time (ns), backlog in packets and bytes, and since the start packets that arrived and
/// departed, bytes that departed, packets that the law dropped, that found the queue full, that were marked, and the
/// sum of sojourn times (ns).
type Seen = (u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

/// A run that its caller takes step by step; it stays in the thread that made it.
#[pyclass(unsendable, module = "aqmlab._native")]
pub(crate) struct Stepper(Stepped);

#[pymethods]
impl Stepper {
    /// A run of a scenario (JSON) at its beginning.
    #[new]
    fn new(scenario_json: &str, inputs: &Inputs, seed: u64) -> PyResult<Stepper> {
        let scenario: Scenario =
            serde_json::from_str(scenario_json).map_err(|error| input(format!("scenario: {error}")))?;
        let aqm: Spec = notation::spec(&scenario.aqm).map_err(input)?;
        Stepped::new(&aqm, &scenario, &inputs.0, seed).map(Stepper).map_err(|error| of_run(&error))
    }

    /// Changes parameters, goes on for some nanoseconds (none: to the next arrival), and says what is seen then.
    fn step(&mut self, settings: Vec<(String, String)>, span_ns: Option<u64>) -> PyResult<Seen> {
        if !settings.is_empty() {
            let settings: Vec<_> = settings.iter().map(|(name, value)| (&**name, &**value)).collect();
            self.0.change(&settings).map_err(input)?;
        }
        let advanced = match span_ns {
            Some(span_ns) => self.0.advance(Span::from_nanos(span_ns)),
            None => self.0.advance_to_arrival(),
        };
        advanced.map_err(|error| of_run(&error))?;
        let (backlog, counters) = (self.0.backlog(), self.0.counters());
        let early = counters.dropped_early();
        Ok((
            self.0.now().as_nanos(),
            backlog.packets,
            backlog.bytes,
            counters.arrived,
            counters.departed,
            counters.departed_bytes,
            early,
            counters.dropped_total() - early,
            counters.marked,
            counters.sojourn_sum.as_nanos(),
        ))
    }

    /// Whether the scenario's duration is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}
