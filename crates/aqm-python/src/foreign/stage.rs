//! The run of a thread while it calls into the user's Python: what can stop it, and what Python raised.

use crate::error::{Cancelled, InputError};
use crate::guest::{self, Guest};
use aqm_sim::report::Monitor;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;

/// So many places in the user's file are named in an error.
const MOST_PLACES: usize = 6;

/// Of the run of a thread: what can stop it, where its calls into Python can be interrupted, and what Python raised.
#[derive(Default)]
struct Stage {
    monitor: Option<Arc<Monitor>>,
    guest: Option<(Arc<Guest>, u64)>,
    fault: Option<PyErr>,
}

thread_local! {
    static STAGE: RefCell<Stage> = RefCell::default();
}

/// Calls `run`; what Python raised meanwhile in a discipline is the error.
pub(crate) fn staged<R>(
    watched: Option<(&Arc<Monitor>, &Arc<Guest>)>,
    run: impl FnOnce() -> R,
) -> (R, Option<PyErr>) {
    let (monitor, guest) = watched.map(|(monitor, guest)| (Arc::clone(monitor), Arc::clone(guest))).unzip();
    let here = || Python::attach(guest::thread).expect("every thread has a number");
    let guest = guest.map(|guest| (guest, here()));
    // A discipline may run others.
    let outer = STAGE.replace(Stage { monitor, guest, fault: None });
    let result = run();
    (result, STAGE.replace(outer).fault)
}

/// Calls into the user's Python, where the run of this thread can be interrupted.
pub(super) fn visit<R>(py: Python<'_>, call: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    match STAGE.with_borrow(|stage| stage.guest.clone()) {
        Some((guest, thread)) => guest.visit(py, thread, call),
        None => call(),
    }
}

/// The exception for what Python raised in the discipline `name`: that of an interrupt stays one, and of anything else
/// one line says what and where.
pub(super) fn fault(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let interrupted =
        STAGE.with_borrow(|stage| stage.guest.as_ref().is_some_and(|(guest, _)| guest.is_interrupted()));
    if interrupted {
        Cancelled::new_err("cancelled")
    } else if error.is_instance_of::<PyKeyboardInterrupt>(py) && gets_signals(py).unwrap_or(false) {
        error
    } else {
        visit(py, || Ok(explained(py, name, &error))).unwrap_or_else(|_| Cancelled::new_err("cancelled"))
    }
}

/// Whether this is the thread in which Python raises `KeyboardInterrupt` itself.
fn gets_signals(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let here = threading.call_method0(intern!(py, "current_thread"))?;
    Ok(here.is(&threading.call_method0(intern!(py, "main_thread"))?))
}

/// The exception for what Python raised in the discipline `name`: one line with the places in the user's file.
fn explained(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    let places = || -> PyResult<Vec<String>> {
        let ours = py.import(intern!(py, "aqmlab.own.python_aqm"))?.getattr(intern!(py, "__file__"))?;
        let mut places = Vec::new();
        // Not by Python's `traceback`: it opens the file to quote it, and this thread may be stopped meanwhile.
        let mut next = error.traceback(py).map(Bound::into_any);
        while let Some(entry) = next {
            let code = entry.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_code"))?;
            let file = code.getattr(intern!(py, "co_filename"))?;
            if file.ne(&ours)? {
                let line = entry.getattr(intern!(py, "tb_lineno"))?;
                places.push(format!("{file}, line {line}, in {}", code.getattr(intern!(py, "co_name"))?));
            }
            next = Some(entry.getattr(intern!(py, "tb_next"))?).filter(|entry| !entry.is_none());
        }
        Ok(places)
    };
    let mut places = places().unwrap_or_default();
    if places.len() > MOST_PLACES {
        // Recursion: the first calls, and the last.
        places.splice(MOST_PLACES - 2..places.len() - 1, ["...".to_owned()]);
    }
    let places = places.join("; ");
    let at = if places.is_empty() { String::new() } else { format!(" ({places})") };
    // Our own errors say all without their type.
    let is_ours = error.is_instance_of::<InputError>(py);
    let what = if is_ours { error.value(py).to_string() } else { error.to_string() };
    let explained = InputError::new_err(format!("{name}: {}{at}", what.trim_end_matches(": ")));
    explained.set_cause(py, Some(error.clone_ref(py)));
    explained
}

/// Stops the run of this thread; what stopped it first is the error.
pub(super) fn stop(fault: impl FnOnce() -> PyErr) {
    if STAGE.with_borrow(|stage| stage.fault.is_some()) {
        return;
    }
    let fault = fault();
    STAGE.with_borrow_mut(|stage| {
        stage.fault = Some(fault);
        if let Some(monitor) = &stage.monitor {
            monitor.cancel();
        }
    });
}
