//! Declarations of disciplines that are written in Python: entries like those of the registry, made while running.

use aqm_core::discipline::Info;
use aqm_core::input_error::InputError;
use aqm_core::spec::Spec;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What every name of such a discipline begins with.
pub(crate) const PREFIX: &str = "python:";
/// The only preset: the values in the class.
pub(super) const PRESET: &str = "class";

/// A declared class.
struct Declared {
    info: &'static Info,
    /// Makes an instance from the values of its parameters, the link's rate and its MTU.
    make: Py<PyAny>,
}

static DECLARED: Mutex<BTreeMap<String, Declared>> = Mutex::new(BTreeMap::new());
fn declared() -> MutexGuard<'static, BTreeMap<String, Declared>> {
    DECLARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enters a class; one of the same name that was there before is replaced.
pub(super) fn declare(info: Info, make: Py<PyAny>) {
    let info: &'static Info = Box::leak(Box::new(info));
    let old = declared().insert(info.name.to_owned(), Declared { info, make });
    // Python may run when the old class goes: not while the lock is held.
    drop(old);
}

/// What makes an instance of a declared class.
pub(super) fn make_of(py: Python<'_>, name: &str) -> Py<PyAny> {
    declared().get(name).expect("declared names stay").make.clone_ref(py)
}

/// Reads a declared discipline in tc's notation.
pub(crate) fn spec(text: &str) -> Result<Spec, InputError> {
    let head = text.split_whitespace().next().unwrap_or_default();
    let name = head.strip_suffix(PRESET).and_then(|rest| rest.strip_suffix(':')).unwrap_or(head);
    let info = declared().get(name).map(|declared| declared.info);
    let info = info.ok_or_else(|| InputError::value(name, "is not declared in this process"))?;
    Spec::parse_as(info, &info.presets[0], &text[head.len()..]).map_err(InputError::from)
}
