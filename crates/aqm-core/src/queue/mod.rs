//! Storage without policy: queues keep packets, laws decide about them.

mod fifo;

pub use fifo::Fifo;
