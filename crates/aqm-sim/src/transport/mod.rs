//! TCP, sans I/O: segments and time in, segments and a deadline out. One file per congestion control.
//!
//! Connections begin established (no handshake, no FIN) and carry data one way.

mod control;
mod cubic;
mod dctcp;
mod feedback;
mod hystart;
mod ledbat;
mod newreno;
mod pacer;
mod prr;
mod rack;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;
#[cfg(test)]
mod testing;
mod window;

pub(crate) use receiver::{Acknowledgment, Receiver};
pub(crate) use sender::{Losses, Sender, Settings};
