//! One Python exception per kind of error.

use crate::panics::defect;
use aqm_core::input_error::InputError as Wrong;
use aqm_sim::report::RunError;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::any::Any;

pyo3::create_exception!(aqmlab, InputError, PyValueError, "Something from outside is wrong: mend the input.");
pyo3::create_exception!(
    aqmlab,
    CheckError,
    PyRuntimeError,
    "A run broke one of its own checks: a defect of aqmlab."
);
pyo3::create_exception!(aqmlab, Cancelled, PyException, "The run was stopped through its monitor.");

/// Gives the exceptions about inputs the fields of one of which only the text is known.
pub(crate) fn declare_fields(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<InputError>();
    for name in ["option", "value", "problem"] {
        class.setattr(name, "")?;
    }
    for name in ["path", "allowed"] {
        class.setattr(name, PyTuple::empty(py))?;
    }
    class.setattr("nearest", py.None())
}

/// An error that the user can correct, of which only the text is known.
pub(crate) fn input(error: impl ToString) -> PyErr {
    InputError::new_err(error.to_string())
}

/// An error about what a user wrote, with all that is known about it.
pub(crate) fn wrong(error: impl Into<Wrong>) -> PyErr {
    let error = error.into();
    let raised = InputError::new_err(error.to_string());
    Python::attach(|py| {
        let value = raised.value(py);
        let path = PyTuple::new(py, &error.path)?;
        let allowed = PyTuple::new(py, &error.allowed)?;
        value.setattr("option", &error.option)?;
        value.setattr("path", path)?;
        value.setattr("value", &error.value)?;
        value.setattr("allowed", allowed)?;
        value.setattr("nearest", &error.nearest)?;
        value.setattr("problem", error.problem())
    })
    .err()
    .unwrap_or(raised)
}

/// The exception for `error`.
pub(crate) fn of_run(error: &RunError) -> PyErr {
    match error {
        RunError::Input(error) => wrong(error.clone()),
        RunError::Cancelled => Cancelled::new_err(error.to_string()),
        _ => CheckError::new_err(error.to_string()),
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
