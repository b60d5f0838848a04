//! What is measured, and how it becomes the named metrics of a report.

pub(crate) mod metrics;
pub(crate) mod port;
pub(crate) mod results;
