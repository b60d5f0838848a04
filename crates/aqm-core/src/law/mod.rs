//! Control laws: they decide, and own no packets.
//!
//! Each law is a `Params` (what was asked for), a `State` (what it remembers) and plain functions of the two, so that
//! one set of parameters can serve a thousand states.

pub mod codel;

use crate::packet::Packet;

/// The head of a queue, as laws see it that decide when a packet leaves.
pub trait Head {
    /// Takes the oldest packet.
    fn pop(&mut self) -> Option<Packet>;

    /// Bytes that wait.
    fn bytes(&self) -> u64;
}
