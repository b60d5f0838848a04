//! Storage without policy: queues keep packets, laws decide about them.

mod fifo;
mod flows;
mod longest;
mod pifo;
mod pool;

pub use fifo::Fifo;
pub use flows::{Flow, FlowHead, Flows};
pub use longest::{Longest, Rank};
pub use pifo::Pifo;
pub use pool::{Chain, Pool};
