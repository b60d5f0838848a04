//! TCP, sans I/O: segments and time in, segments and a deadline out. The congestion controls are in `control/`, one file each.
//!
//! Connections carry data one way. They start established unless a handshake is requested. The last segment of a
//! finite flow carries FIN.

mod ack_delay;
mod control;
mod ecn;
mod feedback;
pub(crate) mod flags;
mod handshake;
mod keys;
mod pacer;
mod profiles;
mod prr;
mod rack;
mod rate;
mod rcvbuf_autotune;
mod reassembly;
mod receiver;
mod relation;
mod rtt;
mod rules;
mod scoreboard;
mod sender;
pub mod socket;
mod spec;
mod tcp;
#[cfg(test)]
mod testing;
mod values;
mod window;

pub use control::bbr::{Moment, Recovery};
pub use control::controller::Info;
pub use control::isolated::IsolatedControl;
pub use control::{CONTROLS, find};
pub use ecn::EcnMode;
pub use keys::{UDP, relations, tcp_keys};
pub use profiles::{PROFILES, Profile, profile_values};
pub use rate::{LostSegment, RateSample};
pub(crate) use receiver::{Acknowledgment, MAX_SACK_BLOCKS, Receiver, Segment};
pub use relation::Relation;
pub use rules::{GROUPS, Group};
pub(crate) use scoreboard::DUP_THRESH;
pub(crate) use sender::{Losses, Sender, Sysctls, TcpInfo};
pub use spec::TransportSpec;
pub use tcp::Tcp;
pub(crate) use values::to_json;
pub use values::{Values, field};
pub use window::Acked;
