//! Measurements, and how they become the named metrics of a report.

#[macro_use]
mod declare;

pub(crate) mod classified;
pub(crate) mod flow_monitor;
pub(crate) mod losses;
pub(crate) mod metrics;
pub(crate) mod port;
pub(crate) mod recorder;
pub mod registry;
pub(crate) mod results;
pub mod sampled;
mod shares;
pub mod values;
pub(crate) mod warmup;
