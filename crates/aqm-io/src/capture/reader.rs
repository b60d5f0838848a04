//! From the bytes of a file to a capture, packet by packet.

use super::clock::Clock;
use super::container;
use super::copies::{Copies, LeftOut, Place};
use super::decode;
use super::flow::FlowTable;
use super::oddities::Oddities;
use super::packets::{Capture, CapturedPacket};
use super::path::PathTrace;
use super::record::Record;
use super::skipped::{SkipReason, Skipped};
use crate::input_error::InputError;

/// Most packets that are kept: 1.6 GB of memory.
const MOST_PACKETS: usize = 50_000_000;
/// The largest IP packet on plain Ethernet.
const ETHERNET_MTU: u32 = 1500;

impl Capture {
    /// The largest file in bytes: it is held in memory while it is parsed.
    pub const LARGEST_FILE_BYTES: u64 = 4 << 30;

    /// Refuses what does not begin as a capture does, before all of it is read; `name` stands for it.
    ///
    /// # Errors
    /// It is empty, or is something else.
    pub fn check_beginning(name: &str, bytes: &[u8]) -> Result<(), InputError> {
        container::check(bytes).map_err(|problem| InputError::new(name, problem))
    }

    /// Reads a pcap or pcapng file; `name` stands for it in errors and warnings.
    ///
    /// # Errors
    /// It is too large, is no capture, or holds no IP packet.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Capture, InputError> {
        Capture::read(name, bytes, false).map(|(capture, _)| capture)
    }

    /// Reads it as [`Capture::parse`] does, and what TCP's headers say about the path.
    ///
    /// # Errors
    /// As those of [`Capture::parse`].
    pub fn parse_with_path(name: &str, bytes: &[u8]) -> Result<(Capture, PathTrace), InputError> {
        Capture::read(name, bytes, true).map(|(capture, path)| (capture, path.unwrap_or_default()))
    }

    fn read(name: &str, bytes: &[u8], with_path: bool) -> Result<(Capture, Option<PathTrace>), InputError> {
        if bytes.len() as u64 > Capture::LARGEST_FILE_BYTES {
            let most = Capture::LARGEST_FILE_BYTES >> 30;
            return Err(InputError::new(name, format!("is larger than {most} GiB, the most for a capture")));
        }
        let read = |left_out| {
            let path = with_path.then(PathTrace::default);
            let mut builder = Builder { path, left_out, ..Builder::default() };
            let end = container::read_records(bytes, &mut |record| builder.add(&record));
            end.map(|end| (builder, end)).map_err(|problem| InputError::new(name, problem))
        };
        let (mut builder, mut end) = read(LeftOut::default())?;
        let left_out = builder.copies.left_out();
        if !left_out.is_empty() {
            (builder, end) = read(left_out)?;
        }
        let Builder { packets, flows, skipped, oddities, path, too_many, .. } = builder;
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
        if oddities.untimed == packets.len() as u64 + skipped.count(SkipReason::Copy) {
            return Err(InputError::new(
                name,
                "gives no packet a time (Simple Packet Blocks): it cannot be replayed",
            ));
        }
        let flows = flows.into_flows();
        Ok((Capture { name: name.to_string(), packets, flows, skipped, oddities, damage }, path))
    }
}

/// Turns records into packets, one by one.
#[derive(Default)]
struct Builder {
    packets: Vec<CapturedPacket>,
    flows: FlowTable,
    skipped: Skipped,
    oddities: Oddities,
    clock: Clock,
    copies: Copies,
    left_out: LeftOut,
    path: Option<PathTrace>,
    too_many: bool,
}

impl Builder {
    /// Adds one record; returns false to stop reading.
    fn add(&mut self, record: &Record<'_>) -> bool {
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
        let place = Place {
            interface: record.interface,
            vantage: record.link.map_or(0, |link| link.vantage(record.data)),
            offset: decoded.offset as u32,
        };
        let known = self.copies.add(&decoded, place, time);
        if self.left_out.has(known) {
            self.skipped.add(SkipReason::Copy);
            return true;
        }
        let flow = self.flows.number(&decoded.five_tuple, decoded.length);
        self.oddities.oversized += u64::from(decoded.length > ETHERNET_MTU);
        self.oddities.cut_transport += u64::from(decoded.cut_transport);
        self.oddities.beyond_frame += u64::from(decoded.beyond_frame);
        if let Some(path) = &mut self.path {
            path.add(flow, time, decoded.tcp, decoded.options, self.flows.flows());
        }
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
