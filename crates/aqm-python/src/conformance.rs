//! The conformance tests of the core, compiled once more for disciplines that are written in Python: the same files, and
//! not a second suite (see `build.rs`).

mod common;

use crate::error::{Cancelled, InputError, text_of};
use crate::foreign::staged;
use crate::notation::spec;
use crate::run::Monitor;
use aqm_core::spec::Spec;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

thread_local! {
    static UNDER_TEST: RefCell<Option<Spec>> = const { RefCell::new(None) };
}

include!(concat!(env!("OUT_DIR"), "/conformance.rs"));

/// One at a time: a panic is written by a hook that all threads share.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs every conformance test on a discipline; gives the name of each, and why it failed or nothing.
#[pyfunction]
pub(crate) fn conformance(
    py: Python<'_>,
    text: &str,
    monitor: &Monitor,
) -> PyResult<Vec<(&'static str, Option<String>)>> {
    let spec = spec(text).map_err(crate::error::input)?;
    py.detach(|| {
        let _alone = ALONE.lock();
        UNDER_TEST.set(Some(spec));
        // What failed is returned, and not printed too.
        let hook = take_hook();
        set_hook(Box::new(|_| ()));
        let found = TESTS.iter().map(|(name, test)| Ok((*name, outcome(*test, monitor)?))).collect();
        set_hook(hook);
        UNDER_TEST.set(None);
        found
    })
}

/// Why a test failed, or nothing; an interrupt ends the others too.
fn outcome(test: fn(), monitor: &Monitor) -> PyResult<Option<String>> {
    let (result, raised) = staged(Some(monitor.watched()), || catch_unwind(AssertUnwindSafe(test)));
    if let Some(error) = raised {
        return Python::attach(|py| {
            let is_wrong = error.is_instance_of::<InputError>(py);
            if is_wrong { Ok(Some(error.value(py).to_string())) } else { Err(error) }
        });
    }
    if monitor.is_cancelled() {
        return Err(Cancelled::new_err("cancelled"));
    }
    Ok(result.err().map(|panic| text_of(&*panic).to_owned()))
}
