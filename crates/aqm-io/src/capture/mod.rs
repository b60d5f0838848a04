//! Recorded traffic: pcap and pcapng as packets that can be replayed.
//!
//! [`Capture::parse`] keeps what a queue can see of every IPv4 and IPv6 packet and counts everything else
//! ([`Skipped`]). A damaged or cut-off file gives the packets before the damage and a warning; no input may
//! make it panic.
//!
//! One file, one job: `container` reads the file formats, `pcapng` what is particular to that one, `link` finds the IP
//! packet in a frame, `decode` reads its headers, `clock` makes times fit for replay, `flow` numbers flows, `reader`
//! puts them together; `packets` is what comes of it, `summary` tells the user what was found. `writer` goes the other
//! way.

mod clock;
mod container;
mod decode;
mod flow;
mod link;
mod oddities;
mod packets;
mod pcapng;
mod reader;
mod record;
mod skipped;
mod summary;
mod writer;

pub use flow::{CapturedFlow, FiveTuple};
pub use link::LinkType;
pub use oddities::Oddities;
pub use packets::{Capture, CapturedPacket};
pub use skipped::{SkipReason, Skipped};
pub use summary::Summary;
pub use writer::{Frame, PcapWriter, PcapngWriter, TooLate};

#[cfg(test)]
mod tests;
