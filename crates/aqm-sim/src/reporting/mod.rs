//! What reads a whole finished simulation: measurements become the named metrics of a report.

mod air;
mod completion;
pub(crate) mod results;
mod shares;
pub(crate) mod warmup;
