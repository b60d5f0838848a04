//! Panics: a defect of aqmlab is one line for the user, and the backtrace is there on request.

use pyo3::prelude::*;
use std::backtrace::Backtrace;
use std::panic::set_hook;
use std::sync::{Mutex, PoisonError};

/// The variable that asks for backtraces.
const TRACEBACK: &str = "AQMLAB_TRACEBACK";

/// Where the last panic of any thread was.
static LAST: Mutex<String> = Mutex::new(String::new());

/// From now on a panic writes nothing by itself, whatever `RUST_BACKTRACE` says, unless `AQMLAB_TRACEBACK` is set: then
/// it writes its backtrace.
pub(crate) fn install() {
    set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = place;
        if std::env::var_os(TRACEBACK).is_some_and(|value| !value.is_empty()) {
            eprintln!("{panic}\n{}", Backtrace::force_capture());
        }
    }));
}

/// Panics, so that tests see what becomes of that.
#[pyfunction]
pub(crate) fn panic(text: String) {
    std::panic::panic_any(text)
}

/// What the user reads of a panic that says `text`.
#[pyfunction]
pub(crate) fn defect(text: &str) -> String {
    let place = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let place = if place.is_empty() { place } else { format!(" ({place})") };
    let text = text.lines().collect::<Vec<_>>().join(" ");
    format!("a defect of ours: {text}{place}; please report it, with what {TRACEBACK}=1 prints")
}
