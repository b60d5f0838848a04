//! One Python exception per kind of error.

use crate::panics::defect;
use aqm_sim::report::RunError;
use pyo3::PyErr;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use std::any::Any;

pyo3::create_exception!(aqmlab, InputError, PyValueError, "Something from outside is wrong: mend the input.");
pyo3::create_exception!(
    aqmlab,
    CheckError,
    PyRuntimeError,
    "A run broke one of its own checks: a defect of aqmlab."
);
pyo3::create_exception!(aqmlab, Cancelled, PyException, "The run was stopped through its monitor.");

/// An error that the user can correct.
pub(crate) fn input(error: impl ToString) -> PyErr {
    InputError::new_err(error.to_string())
}

/// The exception for `error`.
pub(crate) fn of_run(error: &RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Input(_) => InputError::new_err(text),
        RunError::Cancelled => Cancelled::new_err(text),
        _ => CheckError::new_err(text),
    }
}

/// The exception for a panic of the simulator.
pub(crate) fn stopped(panic: &(dyn Any + Send)) -> PyErr {
    CheckError::new_err(defect(text_of(panic)))
}

/// What a panic says.
pub(crate) fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
