//! TCP, sans I/O: segments and time in, segments and a deadline out. One file per congestion control.
//!
//! Connections carry data one way. They start established unless a handshake is requested. The last segment of a
//! finite flow carries FIN.

/// TCP's flags as on the wire.
pub(crate) mod flags {
    /// No more data follow.
    pub(crate) const FIN: u8 = 1;
    /// The connection is being opened.
    pub(crate) const SYN: u8 = 2;
    /// The acknowledgment number is valid.
    pub(crate) const ACK: u8 = 16;
    /// ECN-Echo (RFC 3168 section 6.1).
    pub(crate) const ECE: u8 = 64;
    /// Congestion window reduced (RFC 3168 section 6.1).
    pub(crate) const CWR: u8 = 128;
}

mod bbr;
mod bbr1;
mod bbr3;
mod control;
mod controller;
mod cubic;
mod dctcp;
mod ecn;
mod feedback;
mod fixed;
mod hystart;
mod isolated;
mod keys;
mod ledbat;
mod newreno;
mod opening;
mod pacer;
mod prague;
mod prr;
mod rack;
mod rate;
mod receiver;
mod registry;
mod rtt;
mod scoreboard;
mod sender;
mod tcp;
#[cfg(test)]
mod testing;
mod values;
mod window;

pub use bbr::{Moment, Recovery};
pub use controller::Info;
pub use ecn::EcnMode;
pub use isolated::IsolatedControl;
pub use keys::{IP, RELATIONS, Relation, STACKS, TCP, UDP};
pub use rate::{LostSegment, RateSample};
pub(crate) use receiver::{Acknowledgment, Receiver, Segment};
pub use registry::{CONTROLS, find};
pub(crate) use sender::{Losses, Sender};
pub use tcp::Tcp;
pub(crate) use values::to_json;
pub use values::{Values, field};
pub use window::Acked;
