//! Recorded traffic: packets from pcap and pcapng files that can be replayed.
//!
//! [`Capture::parse`] keeps what a queue can see of every IPv4 and IPv6 packet and counts everything else
//! ([`Skipped`]). A damaged or cut-off file gives the packets before the damage and a warning; no input may cause a
//! panic.
//!
//! One file, one job: `container` reads the file formats, `pcapng` the specifics of that one, `link` finds the IP
//! packet in a frame, `decode` reads its headers, `tunnel` finds the packet inside a tunnel, `clock` makes times for replay, `flow` numbers flows, `copies` finds packets that were captured twice by their
//! `fingerprint`, `reader`
//! combines them; `packets` is the result, `summary` describes it to the user. `path` follows TCP's
//! connections. `writer` writes captures, and `headers` the packets of a simulation. `frame` is what a live link
//! needs of one frame.

mod clock;
mod container;
mod copies;
mod decode;
mod fingerprint;
mod flow;
mod frame;
mod headers;
mod link;
mod oddities;
mod packets;
mod path;
mod pcapng;
mod reader;
mod record;
mod skipped;
mod summary;
mod tunnel;
mod writer;

pub use flow::{CapturedFlow, FiveTuple};
pub use frame::{ETHERNET_HEADER_BYTES, metadata, set_ce};
pub use headers::{Headers, Transport};
pub use link::LinkType;
pub use oddities::Oddities;
pub use packets::{Capture, CapturedPacket};
pub use path::{Answer, Delivery, Loss, PathTrace, RoundTrip};
pub use skipped::{SkipReason, Skipped};
pub use summary::Summary;
pub use writer::{Frame, PcapWriter, PcapngWriter, TooLate};

#[cfg(test)]
mod tests;
