//! The last resort of an interrupt: while a call in C keeps Python's global lock (`sum(itertools.count())`), no handler of
//! a signal runs, and nothing in Python could end it.

use crate::memory::exit_at_once;
use pyo3::prelude::*;
use std::io::{Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// SIGHUP, SIGINT and SIGTERM.
const ENDING: [u8; 3] = [1, 2, 15];
/// So long Python may be kept from running after one of them.
const PATIENCE: Duration = Duration::from_secs(2);
/// The status of an interrupted command.
const INTERRUPTED: i32 = 130;

/// A descriptor for `signal.set_wakeup_fd`. Signals that are written to it end the process if Python is then kept from
/// running; the watch ends when the descriptor is closed.
#[pyfunction]
pub(crate) fn watch_signals() -> PyResult<i32> {
    let (ours, pythons) = UnixStream::pair()?;
    pythons.set_nonblocking(true)?;
    // The first attempt asserts that Python is initialized, and so must not be made while Python ends.
    thread::spawn(attempt);
    thread::spawn(move || watch(ours));
    Ok(pythons.into_raw_fd())
}

fn watch(mut signals: UnixStream) {
    let mut signal = [0];
    while signals.read_exact(&mut signal).is_ok() {
        if ENDING.contains(&signal[0]) && !python_runs() && is_open(&mut signals) {
            let why = b"aqmlab: interrupted in a call that does not return; what was finished is kept\n";
            let _ = std::io::stderr().write_all(why);
            exit_at_once(INTERRUPTED);
        }
    }
}

/// Whether somebody still writes to it: a process that is about to end runs no Python either.
fn is_open(signals: &mut UnixStream) -> bool {
    signals.set_nonblocking(true).is_ok()
        && !matches!(signals.read(&mut [0]), Ok(0))
        && signals.set_nonblocking(false).is_ok()
}

/// Whether some thread can run Python: then the main one can, and its handlers act.
fn python_runs() -> bool {
    let (answer, answered) = mpsc::channel();
    thread::spawn(move || {
        attempt();
        // Nobody listens any more after a while.
        let _ = answer.send(());
    });
    answered.recv_timeout(PATIENCE).is_ok()
}

/// Returns once this thread has been able to run Python, or Python has ended.
fn attempt() {
    Python::try_attach(|_| ());
}
