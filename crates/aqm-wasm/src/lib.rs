//! The simulator behind five functions, for a page without a server.
//!
//! One buffer holds what goes in and out: the host writes into `room(length)`, calls a function that reads it, and finds
//! the answer, of the returned length, at `answer()`. The module needs no files, no clock and no threads.
#![allow(unsafe_code, reason = "a function that the host calls by name has `unsafe` in its attribute")]

use aqm_io::capture::Capture;
use aqm_io::link_trace::LinkTrace;
use aqm_sim::inputs::Inputs;
use aqm_sim::report::Monitor;
use serde_json::json;
use std::cell::RefCell;
use std::sync::Arc;

#[derive(Default)]
struct Module {
    buffer: Vec<u8>,
    inputs: Inputs,
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

/// Reads the buffer as the capture `capture`; the answer is empty, or says what is wrong.
#[unsafe(no_mangle)]
extern "C" fn add_capture() -> usize {
    MODULE.with_borrow_mut(|module| match Capture::parse("capture", &module.buffer) {
        Ok(capture) => module.answer_after(|inputs| inputs.add_capture("capture", Arc::new(capture))),
        Err(error) => module.answer(error.to_string()),
    })
}

/// Reads the buffer as the link trace `trace`; the answer is empty, or says what is wrong.
#[unsafe(no_mangle)]
extern "C" fn add_link_trace() -> usize {
    MODULE.with_borrow_mut(|module| match LinkTrace::parse("trace", &module.buffer) {
        Ok(trace) => module.answer_after(|inputs| inputs.add_link_trace("trace", trace)),
        Err(error) => module.answer(error.to_string()),
    })
}

/// Reads the buffer as a scenario and runs it; the answer is JSON: `{"report": ...}`, or `{"error": "..."}`.
#[unsafe(no_mangle)]
extern "C" fn run(seed: u64) -> usize {
    MODULE.with_borrow_mut(|module| {
        let ran = serde_json::from_slice(&module.buffer)
            .map_err(|error| format!("scenario: {error}"))
            .and_then(|scenario| {
                aqm_sim::run(&scenario, &module.inputs, seed, &Monitor::default())
                    .map_err(|error| error.to_string())
            });
        let answer = match ran {
            Ok(report) => json!({ "report": report }),
            Err(error) => json!({ "error": error }),
        };
        module.answer(answer.to_string())
    })
}

/// Address of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    MODULE.with_borrow(|module| module.buffer.as_ptr())
}

impl Module {
    fn answer(&mut self, text: String) -> usize {
        self.buffer = text.into_bytes();
        self.buffer.len()
    }

    fn answer_after(&mut self, add: impl FnOnce(&mut Inputs)) -> usize {
        add(&mut self.inputs);
        self.answer(String::new())
    }
}
