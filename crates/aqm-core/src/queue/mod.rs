//! Storage without policy: queues keep packets, laws decide about them.

mod fifo;
mod flows;
mod pool;

pub use fifo::Fifo;
pub use flows::{Flow, FlowHead, Flows};
pub use pool::{Chain, Pool};
