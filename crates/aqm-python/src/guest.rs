//! The user's Python in a thread of its own, where no signal reaches it: what can interrupt it there.
//!
//! An endless loop looks at no flag. It ends when Python raises an exception in its thread, which another thread can ask
//! for; that is asked only while the loop is in the user's code, so that it hits nothing else.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The user's Python in a run. Its fields change only with Python's global lock held.
#[derive(Default)]
pub(crate) struct Guest {
    /// The thread that is in the user's code now; 0 if none is.
    thread: AtomicU64,
    is_interrupted: AtomicBool,
}

impl Guest {
    /// Calls into the user's Python from the thread that Python knows by this number; once it was interrupted, no more.
    pub(crate) fn visit<R>(
        &self,
        py: Python<'_>,
        thread: u64,
        call: impl FnOnce() -> PyResult<R>,
    ) -> PyResult<R> {
        if self.is_interrupted() {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        self.thread.store(thread, Ordering::Relaxed);
        let result = call();
        self.thread.store(0, Ordering::Relaxed);
        if self.is_interrupted() {
            // What was asked for and is not raised yet would be raised in somebody else's code.
            raise_in(py, thread, py.None().into_bound(py), || true)?;
        }
        result
    }

    /// Raises an exception in the user's code, now and whenever it is called again; its own handlers may swallow it.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        self.is_interrupted.store(true, Ordering::Relaxed);
        let thread = self.thread.load(Ordering::Relaxed);
        let exception = py.get_type::<PyKeyboardInterrupt>();
        let boxed = py.import(intern!(py, "ctypes"))?.call_method1(intern!(py, "py_object"), (exception,))?;
        raise_in(py, thread, boxed, || thread != 0 && self.thread.load(Ordering::Relaxed) == thread)
    }

    /// Whether it was asked to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }
}

/// The number by which Python knows this thread.
pub(crate) fn thread(py: Python<'_>) -> PyResult<u64> {
    py.import(intern!(py, "_thread"))?.call_method0(intern!(py, "get_ident"))?.extract()
}

/// Lets a thread raise an exception at its next line of Python; of none, takes back what is not raised yet.
fn raise_in(
    py: Python<'_>,
    thread: u64,
    exception: Bound<'_, PyAny>,
    still: impl FnOnce() -> bool,
) -> PyResult<()> {
    let ctypes = py.import(intern!(py, "ctypes"))?;
    let set = ctypes.getattr(intern!(py, "pythonapi"))?.getattr(intern!(py, "PyThreadState_SetAsyncExc"))?;
    let number = ctypes.call_method1(intern!(py, "c_ulong"), (thread,))?;
    // All that could let another thread run is done.
    if still() {
        set.call1((number, exception))?;
    }
    Ok(())
}
