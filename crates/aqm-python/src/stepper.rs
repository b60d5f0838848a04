//! A run in steps, for environments to learn in: one call per step.

use crate::error::{input, of_run, stopped, wrong};
use crate::foreign::staged;
use crate::inputs::Inputs;
use crate::notation;
use aqm_core::spec::Spec;
use aqm_core::units::Span;
use aqm_sim::scenario::Scenario;
use aqm_sim::stepped::Stepped;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard};

/// What is seen after a step: time (ns), backlog in packets and bytes, and since the start packets that arrived and
/// departed, bytes that departed, packets that the law dropped, that found the queue full, that were marked, and the
/// sum of sojourn times (ns).
type Snapshot = (u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

/// A run that its caller takes step by step, in any thread, one at a time; none any more once it has failed.
#[pyclass(frozen, module = "aqmlab._native")]
pub(crate) struct Stepper(Mutex<Option<Stepped>>);

impl Stepper {
    fn run(&self) -> PyResult<MutexGuard<'_, Option<Stepped>>> {
        // The thread that has it may wait for Python's global lock: not to be waited for with that held.
        self.0.try_lock().map_err(|_| input("step: another thread is in a step of this run"))
    }
}

/// Goes on with a run without Python's global lock; what Python raises in its discipline is the error.
fn protected<R: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<R> + Send) -> PyResult<R> {
    let (result, raised) = py.detach(|| staged(None, || catch_unwind(AssertUnwindSafe(work))));
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result,
        (None, Err(panic)) => Err(stopped(&*panic)),
    }
}

#[pymethods]
impl Stepper {
    /// A run of a scenario (JSON) at its beginning.
    #[new]
    fn new(py: Python<'_>, scenario_json: &str, inputs: &Inputs, seed: u64) -> PyResult<Stepper> {
        let scenario: Scenario =
            serde_json::from_str(scenario_json).map_err(|error| input(format!("scenario: {error}")))?;
        let aqm: Spec = notation::spec(&scenario.aqm).map_err(wrong)?;
        let begin = || Stepped::new(&aqm, &scenario, &inputs.0, seed).map_err(|error| of_run(&error));
        Ok(Stepper(Mutex::new(Some(protected(py, begin)?))))
    }

    /// Changes parameters, goes on for some nanoseconds (none: to the next arrival), and says what is seen then.
    fn step(
        &self,
        py: Python<'_>,
        settings: Vec<(String, String)>,
        span_ns: Option<u64>,
    ) -> PyResult<Snapshot> {
        let settings: Vec<_> = settings.iter().map(|(name, value)| (&**name, &**value)).collect();
        let mut held = self.run()?;
        let run = held.as_mut().ok_or_else(|| input("step: the run has failed"))?;
        let done = protected(py, || {
            if !settings.is_empty()
                && let Err(refusal) = run.change(&settings)
            {
                return Ok(Err(refusal));
            }
            let advanced = match span_ns {
                Some(span_ns) => run.advance(Span::from_nanos(span_ns)),
                None => run.advance_to_arrival(),
            };
            advanced.map_err(|error| of_run(&error))?;
            Ok(Ok(seen(run)))
        });
        if done.is_err() {
            *held = None;
        }
        done?.map_err(wrong)
    }

    /// Whether the scenario's duration is over.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        Ok(self.run()?.as_ref().is_none_or(Stepped::is_over))
    }
}

fn seen(run: &Stepped) -> Snapshot {
    let (backlog, counters) = (run.backlog(), run.counters());
    let early = counters.dropped_early();
    (
        run.now().as_nanos(),
        backlog.packets,
        backlog.bytes,
        counters.arrived,
        counters.departed,
        counters.departed_bytes,
        early,
        counters.lost() - early,
        counters.marked,
        counters.sojourn_sum.as_nanos(),
    )
}
