//! Control laws: they decide, and own no packets.
//!
//! Each law is a `Params` (settings), a `State` and plain functions of the two, so that one set of parameters can
//! serve a thousand states.

pub mod afd;
pub mod aifo;
pub mod blue;
mod ce_threshold;
pub mod cobalt;
pub mod codel;
pub mod daqm;
pub mod docsis_pie;
pub mod exponential;
pub mod features;
pub mod idle;
pub mod max_p;
mod periodic;
mod pi;
pub mod pie;
pub mod rank;
pub mod red;
pub mod rem;
pub mod sfb;
mod share;
pub mod sp_pifo;

pub use ce_threshold::CeThreshold;
pub use periodic::Periodic;
pub use pi::{Controlled, Pi};
pub use share::Shares;

use crate::packet::Packet;

/// The head of a queue, for laws that decide when a packet leaves.
pub trait Head {
    /// The oldest packet.
    fn peek(&mut self) -> Option<&mut Packet>;

    /// Removes the oldest packet.
    fn pop(&mut self) -> Option<Packet>;

    /// Queued bytes.
    fn bytes(&self) -> u64;
}

/// The decision of a law about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may enter.
    Admit,
    /// Signal congestion with it: mark it if it is ECN-capable, drop it otherwise.
    Signal,
    /// Drop it, ECN-capable or not.
    Drop,
}
