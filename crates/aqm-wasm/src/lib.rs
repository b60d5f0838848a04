//! The simulator behind a few functions, for a page without a server.
//!
//! One buffer holds what goes in and out: the host writes into `room(length)`, calls a function that reads it, and finds
//! the answer, of the returned length, at `answer()`. A run is started, taken in steps, and reported. The module needs no
//! files, no clock and no threads.
#![allow(unsafe_code, reason = "a function that the host calls by name has `unsafe` in its attribute")]

mod advice;
mod setting;

use aqm_core::input_error::InputError;
use aqm_core::units::Time;
use aqm_io::capture::Capture;
use aqm_io::link_trace::LinkTrace;
use aqm_sim::report::RunError;
use aqm_sim::scenario::Scenario;
use aqm_sim::scenario::inputs::Inputs;
use aqm_sim::stepped::Stepped;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;

#[derive(Default)]
struct Module {
    buffer: Vec<u8>,
    inputs: Inputs,
    run: Option<Run>,
}

struct Run {
    stepped: Stepped,
    /// Points of the series that the host has.
    shown: usize,
}

thread_local!(static MODULE: RefCell<Module> = RefCell::default());

/// Reserves the buffer for data from the host.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.buffer = vec![0; length];
        module.buffer.as_mut_ptr()
    })
}

/// Reads the buffer as the capture `capture`; the answer is `{}`, or `{"error": "...", "option": "..."}` as of all functions.
#[unsafe(no_mangle)]
extern "C" fn add_capture() -> usize {
    answered(|module| {
        let capture = Capture::parse("capture", &module.buffer)?;
        module.inputs.add_capture("capture", Arc::new(capture));
        Ok(json!({}))
    })
}

/// Reads the buffer as the link trace `trace`; the answer is `{}`.
#[unsafe(no_mangle)]
extern "C" fn add_link_trace() -> usize {
    answered(|module| {
        let trace = LinkTrace::parse("trace", &module.buffer)?;
        module.inputs.add_link_trace("trace", trace);
        Ok(json!({}))
    })
}

/// Reads the buffer as a scenario and begins a run of it; the answer is `{}`.
#[unsafe(no_mangle)]
extern "C" fn start(seed: u64) -> usize {
    answered(|module| {
        module.run = None;
        let scenario = Scenario::from_json(question(module)?).map_err(|error| error.of_option("scenario"))?;
        let aqm = aqm_scenario::discipline(&scenario.aqm)?;
        let stepped = Stepped::new(&aqm, &scenario, &module.inputs, seed)?;
        module.run = Some(Run { stepped, shown: 0 });
        Ok(json!({}))
    })
}

/// Goes on until a time, but not beyond the end; the answer is `{"reached_ns": ..., "series": ...}` with the points that
/// are new.
#[unsafe(no_mangle)]
extern "C" fn step(until_ns: u64) -> usize {
    answered(|module| {
        let run = module.run.as_mut().ok_or_else(no_run)?;
        let span = Time::from_nanos(until_ns).since(run.stepped.now());
        run.stepped.advance(span)?;
        let series = run.stepped.series_after(run.shown);
        run.shown += series.time_s.len();
        Ok(json!({"reached_ns": run.stepped.now().as_nanos(), "series": series}))
    })
}

/// Goes on to the end, and ends the run; the answer is `{"report": ...}`.
#[unsafe(no_mangle)]
extern "C" fn report() -> usize {
    answered(|module| {
        let run = module.run.take().ok_or_else(no_run)?;
        let report = run.stepped.report()?;
        Ok(json!({ "report": report }))
    })
}

/// Reads the buffer as a question about a home's line, and answers it.
#[unsafe(no_mangle)]
extern "C" fn advise() -> usize {
    answered(|module| {
        let asked = serde_json::from_value(question(module)?)
            .map_err(|error| InputError::new(error.to_string()).of_option("question"))?;
        Ok(advice::answer(asked)?)
    })
}

/// Reads the buffer as a value of an option; the answer is that in base units.
#[unsafe(no_mangle)]
extern "C" fn read() -> usize {
    answered(|module| Ok(setting::read(&question(module)?)?))
}

/// Reads the buffer as a value in base units; the answer is that of an option as people write it.
#[unsafe(no_mangle)]
extern "C" fn write() -> usize {
    answered(|module| Ok(setting::write(&question(module)?)?))
}

/// Reads the buffer as a link, `KIND key value ...`; the answer is its kind, its stations, and whether it has a rate of its own.
#[unsafe(no_mangle)]
extern "C" fn link() -> usize {
    answered(|module| Ok(setting::link(&question(module)?)?))
}

/// Reads the buffer as options; the answer is the scenario that they stand for.
#[unsafe(no_mangle)]
extern "C" fn resolve() -> usize {
    answered(|module| Ok(setting::resolved(&question(module)?)?))
}

/// Reads the buffer as options with what is swept over them; the answer is the scenarios of its points.
#[cfg(feature = "sweeps")]
#[unsafe(no_mangle)]
extern "C" fn sweep() -> usize {
    answered(|module| Ok(setting::swept(&question(module)?)?))
}

/// Address of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    MODULE.with_borrow(|module| module.buffer.as_ptr())
}

fn no_run() -> InputError {
    InputError::new("no run has been started")
}

/// What the host has written into the buffer.
fn question(module: &Module) -> Result<Value, InputError> {
    serde_json::from_slice(&module.buffer).map_err(|error| InputError::new(error.to_string()))
}

/// Length of the answer of `act`; an error has the option that it is about, if it is about one.
fn answered(act: impl FnOnce(&mut Module) -> Result<Value, RunError>) -> usize {
    MODULE.with_borrow_mut(|module| {
        let answer = act(module).unwrap_or_else(|error| {
            let option = if let RunError::Input(error) = &error { error.option.as_str() } else { "" };
            json!({ "error": error.to_string(), "option": option })
        });
        module.buffer = answer.to_string().into_bytes();
        module.buffer.len()
    })
}
