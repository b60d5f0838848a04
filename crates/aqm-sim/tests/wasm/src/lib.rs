//! The simulator behind four functions. One buffer holds what goes in and out: the host writes `room(length)` bytes,
//! calls a function that reads them, and finds the answer, of the returned length, at `answer()`.

use aqm_io::capture::Capture;
use aqm_io::link_trace::LinkTrace;
use aqm_sim::inputs::Inputs;
use aqm_sim::report::Monitor;
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

/// Reads the buffer as the capture `capture`.
#[unsafe(no_mangle)]
extern "C" fn add_capture() {
    MODULE.with_borrow_mut(|module| {
        let capture = Capture::parse("capture", &module.buffer).expect("a capture");
        module.inputs.add_capture("capture", Arc::new(capture));
    });
}

/// Reads the buffer as the link trace `trace`.
#[unsafe(no_mangle)]
extern "C" fn add_link_trace() {
    MODULE.with_borrow_mut(|module| {
        let trace = LinkTrace::parse("trace", &module.buffer).expect("a link trace");
        module.inputs.add_link_trace("trace", trace);
    });
}

/// Reads the buffer as a scenario, runs it, and returns the length of the answer: the whole report in `Debug` form,
/// in which no number loses a bit.
#[unsafe(no_mangle)]
extern "C" fn run(seed: u64) -> usize {
    MODULE.with_borrow_mut(|module| {
        let scenario = serde_json::from_slice(&module.buffer).expect("a scenario");
        let report = aqm_sim::run(&scenario, &module.inputs, seed, &Monitor::default());
        module.buffer = format!("{report:?}").into_bytes();
        module.buffer.len()
    })
}

/// Address of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    MODULE.with_borrow(|module| module.buffer.as_ptr())
}
