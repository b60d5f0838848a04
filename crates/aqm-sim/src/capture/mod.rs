//! Recorded traffic: pcap and pcapng files as packets that can be replayed.
//!
//! [`Capture::read`] keeps what a queue can see of every IPv4 and IPv6 packet and counts everything else
//! ([`Skipped`]). A damaged or cut-off file gives the packets before the damage and a warning; no input may
//! make it panic.
//!
//! One file, one job: [`container`] reads the file formats, [`link`] finds the IP packet in a frame,
//! [`decode`] reads its headers, [`clock`] makes times fit for replay, [`flow`] numbers flows, [`summary`] tells
//! the user what was found.

mod clock;
mod container;
mod decode;
mod flow;
mod link;
mod pcapng;
mod skipped;
mod summary;

pub use flow::{CapturedFlow, FiveTuple};
pub use skipped::{SkipReason, Skipped};
pub use summary::Summary;

use crate::input_error::InputError;
use aqm_core::packet::{Ecn, TcpView};
use aqm_core::units::Span;
use clock::Clock;
use flow::FlowTable;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Packets kept at most: 1.6 GB of memory.
const MOST_PACKETS: usize = 50_000_000;
/// The largest IP packet on plain Ethernet.
const ETHERNET_MTU: u32 = 1500;

/// One IP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time since the first IP packet of the capture. Never decreases.
    pub time: Span,
    /// Bytes of the IP packet on the wire, IP header included, link layer not.
    pub length: u32,
    /// Number of its flow: an index into [`Capture::flows`].
    pub flow: u32,
    /// The TCP header, if it is TCP, is no fragment and was captured whole.
    pub tcp: Option<TcpView>,
    /// DiffServ code point.
    pub dscp: u8,
    /// ECN field.
    pub ecn: Ecn,
}

/// The IP packets of a capture file, in the order of the file.
#[derive(Clone, Debug)]
pub struct Capture {
    name: String,
    packets: Vec<CapturedPacket>,
    flows: Vec<CapturedFlow>,
    skipped: Skipped,
    oddities: Oddities,
    damage: Option<String>,
}

/// What was kept although something about it is unusual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Packets up to a second earlier than the packet in front of them; they were given its time.
    pub backward: u64,
    /// Places where time leaps back by more than a second or ahead by more than an hour, as where recordings
    /// were joined: what follows was moved to one second later.
    pub leaps: u64,
    /// Packets without a time (pcapng's Simple Packet Blocks); they were given that of the packet in front.
    pub untimed: u64,
    /// Packets of more than 1500 bytes: jumbo frames, or joined by the capturing host's offloads.
    pub oversized: u64,
    /// Packets whose transport header was not captured whole: their flow may lack its ports.
    pub cut_transport: u64,
    /// Packets whose IP header tells of more bytes than the frame had, as where payload was removed from the
    /// file; the header was believed.
    pub beyond_frame: u64,
}

impl Capture {
    /// Reads a pcap or pcapng file.
    ///
    /// # Errors
    /// The file cannot be read, is no capture, or holds no IP packet.
    pub fn read(path: &Path) -> Result<Capture, InputError> {
        let file = File::open(path).map_err(|error| InputError::unreadable(path, &error))?;
        Capture::from_reader(&path.display().to_string(), file)
    }

    /// Reads a capture from a stream; `name` stands for the file in errors and warnings.
    ///
    /// # Errors
    /// As [`Capture::read`].
    pub fn from_reader(name: &str, reader: impl Read) -> Result<Capture, InputError> {
        let mut builder = Builder::default();
        let end = container::read_records(reader, &mut |record| builder.add(&record))
            .map_err(|problem| InputError::new(name, problem))?;
        let Builder { packets, flows, skipped, oddities, too_many, .. } = builder;
        if too_many {
            return Err(InputError::new(
                name,
                format!("holds more than {MOST_PACKETS} IP packets: split it (editcap -c {MOST_PACKETS})"),
            ));
        }
        let damage = end.damage(packets.len());
        if packets.is_empty() {
            let but = match (&damage, skipped.total()) {
                (Some(damage), _) => damage.clone(),
                (None, 0) => "it is empty".to_string(),
                (None, _) => format!("only {skipped}"),
            };
            return Err(InputError::new(name, format!("is a capture without IP packets: {but}")));
        }
        if oddities.untimed == packets.len() as u64 {
            return Err(InputError::new(
                name,
                "gives no packet a time (Simple Packet Blocks): it cannot be replayed",
            ));
        }
        Ok(Capture { name: name.to_string(), packets, flows: flows.into_flows(), skipped, oddities, damage })
    }

    /// The file as it was named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The packets, in the order of the file; never empty.
    pub fn packets(&self) -> &[CapturedPacket] {
        &self.packets
    }

    /// The flows, in the order in which they first appear.
    pub fn flows(&self) -> &[CapturedFlow] {
        &self.flows
    }

    /// The flow of a packet of this capture.
    pub fn flow_of(&self, packet: &CapturedPacket) -> &CapturedFlow {
        &self.flows[packet.flow as usize]
    }

    /// Time between the first and the last packet.
    pub fn duration(&self) -> Span {
        self.packets.last().map_or(Span::ZERO, |last| last.time)
    }

    /// What the file held beside IP packets.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// What was kept although something about it is unusual.
    pub fn oddities(&self) -> &Oddities {
        &self.oddities
    }

    /// What a user should know before trusting results from this capture, one line each.
    pub fn warnings(&self) -> Vec<String> {
        summary::warnings(self)
    }

    /// The capture in figures, for the user.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }
}

/// Turns records into packets, one after the other.
#[derive(Default)]
struct Builder {
    packets: Vec<CapturedPacket>,
    flows: FlowTable,
    skipped: Skipped,
    oddities: Oddities,
    clock: Clock,
    too_many: bool,
}

impl Builder {
    /// Takes one record; false to stop reading.
    fn add(&mut self, record: &container::Record<'_>) -> bool {
        let decoded = match decode::packet(record) {
            Ok(decoded) => decoded,
            Err(reason) => {
                self.skipped.add(reason);
                return true;
            }
        };
        if self.packets.len() == MOST_PACKETS {
            self.too_many = true;
            return false;
        }
        let time = self.clock.relative(record.time, &mut self.oddities);
        let flow = self.flows.number(&decoded.five_tuple, decoded.length);
        self.oddities.oversized += u64::from(decoded.length > ETHERNET_MTU);
        self.oddities.cut_transport += u64::from(decoded.cut_transport);
        self.oddities.beyond_frame += u64::from(decoded.beyond_frame);
        self.packets.push(CapturedPacket {
            time,
            length: decoded.length,
            flow,
            tcp: decoded.tcp,
            dscp: decoded.dscp,
            ecn: decoded.ecn,
        });
        true
    }
}

#[cfg(test)]
mod tests;
