//! Requests of applications to their connections, and the waiting times of their users.

use aqm_core::units::Time;

/// A request of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send bytes on a pipe; the application is told when all of them have arrived.
    Send { pipe: usize, bytes: u64 },
    /// Wake the application at this time. One wake-up at a time is pending.
    Wake(Time),
}

/// What a user waits for, and the metrics of the waiting time.
#[derive(Debug, PartialEq)]
pub(crate) struct Waited {
    /// Name of the histogram.
    pub(crate) histogram: &'static str,
    /// The mean. Names in `_s` are in seconds, names in `_ms` in milliseconds.
    pub(crate) mean: &'static str,
    /// A high percentile, and which.
    pub(crate) high: (&'static str, f64),
    /// How many waits ended.
    pub(crate) completed: &'static str,
    /// How many waits ended or were not over at the end of the run, where that is known.
    pub(crate) requested: Option<&'static str>,
}
