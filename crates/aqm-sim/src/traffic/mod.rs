//! Traffic: what applications have to send, and when.

mod arrivals;
mod distribution;

pub(crate) use arrivals::Paced;
pub use distribution::Distribution;
