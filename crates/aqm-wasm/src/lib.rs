//! The simulator behind a few functions, for a page without a server.
//!
//! One buffer holds what goes in and out: the host writes into `room(length)`, calls a function that reads it, and finds
//! the answer, of the returned length, at `answer()`. A run is started, taken in steps, and reported. The module needs no
//! files, no clock and no threads.
#![allow(unsafe_code, reason = "a function that the host calls by name has `unsafe` in its attribute")]

mod advice;

use aqm_core::units::Time;
use aqm_io::capture::Capture;
use aqm_io::link_trace::LinkTrace;
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
    told: usize,
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

/// Reads the buffer as the capture `capture`; the answer is `{}`, or `{"error": "..."}` as of all functions.
#[unsafe(no_mangle)]
extern "C" fn add_capture() -> usize {
    answered(|module| {
        let capture = Capture::parse("capture", &module.buffer).map_err(|error| error.to_string())?;
        module.inputs.add_capture("capture", Arc::new(capture));
        Ok(json!({}))
    })
}

/// Reads the buffer as the link trace `trace`; the answer is `{}`.
#[unsafe(no_mangle)]
extern "C" fn add_link_trace() -> usize {
    answered(|module| {
        let trace = LinkTrace::parse("trace", &module.buffer).map_err(|error| error.to_string())?;
        module.inputs.add_link_trace("trace", trace);
        Ok(json!({}))
    })
}

/// Reads the buffer as a scenario and begins a run of it; the answer is `{}`.
#[unsafe(no_mangle)]
extern "C" fn start(seed: u64) -> usize {
    answered(|module| {
        module.run = None;
        let scenario: Scenario =
            serde_json::from_slice(&module.buffer).map_err(|error| format!("scenario: {error}"))?;
        let aqm = aqm_scenario::discipline(&scenario.aqm).map_err(|error| error.to_string())?;
        let stepped =
            Stepped::new(&aqm, &scenario, &module.inputs, seed).map_err(|error| error.to_string())?;
        module.run = Some(Run { stepped, told: 0 });
        Ok(json!({}))
    })
}

/// Goes on until a time, but not beyond the end; the answer is `{"reached_ns": ..., "series": ...}` with the points that
/// are new.
#[unsafe(no_mangle)]
extern "C" fn step(until_ns: u64) -> usize {
    answered(|module| {
        let run = module.run.as_mut().ok_or(NO_RUN)?;
        let span = Time::from_nanos(until_ns).since(run.stepped.now());
        run.stepped.advance(span).map_err(|error| error.to_string())?;
        let series = run.stepped.series_after(run.told);
        run.told += series.time_s.len();
        Ok(json!({"reached_ns": run.stepped.now().as_nanos(), "series": series}))
    })
}

/// Goes on to the end, and ends the run; the answer is `{"report": ...}`.
#[unsafe(no_mangle)]
extern "C" fn report() -> usize {
    answered(|module| {
        let run = module.run.take().ok_or(NO_RUN)?;
        let report = run.stepped.report().map_err(|error| error.to_string())?;
        Ok(json!({ "report": report }))
    })
}

/// Reads the buffer as a question about a home's line, and answers it.
#[unsafe(no_mangle)]
extern "C" fn advise() -> usize {
    answered(|module| {
        let question =
            serde_json::from_slice(&module.buffer).map_err(|error| format!("question: {error}"))?;
        advice::answer(question)
    })
}

/// Address of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    MODULE.with_borrow(|module| module.buffer.as_ptr())
}

const NO_RUN: &str = "no run has been started";

/// Length of the answer of `act`.
fn answered(act: impl FnOnce(&mut Module) -> Result<Value, String>) -> usize {
    MODULE.with_borrow_mut(|module| {
        let answer = act(module).unwrap_or_else(|error| json!({ "error": error }));
        module.buffer = answer.to_string().into_bytes();
        module.buffer.len()
    })
}
