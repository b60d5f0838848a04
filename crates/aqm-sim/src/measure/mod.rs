//! Measurements, accumulated in place while packets move.

pub(crate) mod classified;
pub(crate) mod hosted;
pub(crate) mod ledger;
pub(crate) mod logger;
pub(crate) mod losses;
pub(crate) mod metrics;
pub(crate) mod observer;
pub(crate) mod port;
pub(crate) mod recorder;
pub(crate) mod recording;
pub(crate) mod tracer;
