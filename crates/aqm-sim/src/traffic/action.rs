//! What applications ask of their connections, and what their users wait for.

use aqm_core::units::Time;

/// What an application wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// So many bytes sent on a pipe; the application is told when all of them have arrived.
    Send { pipe: usize, bytes: u64 },
    /// To be woken. One wake-up at a time is outstanding.
    Wake(Time),
}

/// What a user waits for, and the metrics that tell how long.
#[derive(Debug, PartialEq)]
pub(crate) struct Waited {
    /// Name of the histogram.
    pub(crate) histogram: &'static str,
    /// Mean; a name in `_s` is in seconds, one in `_ms` in milliseconds.
    pub(crate) mean: &'static str,
    /// A high percentile, and which.
    pub(crate) high: (&'static str, f64),
    /// How often the wait ended.
    pub(crate) completed: &'static str,
    /// How often it ended or was not over at the end of the run, where that can be told.
    pub(crate) requested: Option<&'static str>,
}
