//! Traffic: what applications have to send, and when.

mod arrivals;
mod distribution;

pub(crate) use arrivals::Arrivals;
pub use distribution::Distribution;
