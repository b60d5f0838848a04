//! What methods and attributes of classes in Python may answer: one error names method, value, and what is allowed.

use crate::error::input;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

/// Of a value that is shown in an error, this many characters.
const MOST_SHOWN: usize = 60;

/// A value as an error shows it: what Python's `repr` says, cut if it is long.
pub(super) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = match value.repr() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("<{}>", value.get_type()),
    };
    let mut cut: String = text.chars().take(MOST_SHOWN).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    cut
}

/// The error for an answer that is not allowed.
pub(super) fn refused(what: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    input(format!("{what} {}: allowed is {allowed}", shown(value)))
}

/// A whole number; none for Python's `None`, and for what is no whole number an error that says what is `allowed`.
pub(super) fn whole(what: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyResult<Option<i128>> {
    if value.is_none() {
        return Ok(None);
    }
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() };
    match number {
        Some(number) => Ok(Some(number)),
        // No number of 128 bits: as large as one can be.
        None if value.is_exact_instance_of::<PyInt>() => {
            Ok(Some(if value.lt(0)? { i128::MIN } else { i128::MAX }))
        }
        None => Err(refused(what, value, allowed)),
    }
}

/// Refuses what a method returns that has not done its work yet: the body of a generator or a coroutine has not run.
pub(super) fn done(what: &str, returned: &Bound<'_, PyAny>) -> PyResult<()> {
    if returned.is_none() || !returned.hasattr(intern!(returned.py(), "throw"))? {
        return Ok(());
    }
    // A coroutine that nobody awaits warns when it goes.
    returned.call_method0(intern!(returned.py(), "close"))?;
    let kind = returned.get_type().name()?;
    Err(input(format!(
        "{what} returned a {kind}, whose body nobody runs: allowed is a method without yield, async and await"
    )))
}
