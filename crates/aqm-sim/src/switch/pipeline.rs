//! Programs in the data plane of a switch, in P4's words: ingress, traffic manager, egress.
//!
//! The ingress sees a packet before it is queued and may choose its class, mark it, drop it or send something back to its
//! source. The traffic manager is the port with its discipline. The egress sees the packet when it leaves the queue, and
//! what the queue was. Both work on registers and tables, which a [control plane](super::control_plane) reads and writes.

use aqm_core::packet::Packet;
use aqm_core::signal::Emission;
use aqm_core::units::{Span, Time};
use std::collections::BTreeMap;

/// A packet as a program sees it: its headers, and where it came in and goes out.
#[derive(Clone, Copy, Debug)]
pub struct PacketView<'a> {
    /// Headers and metadata.
    pub packet: &'a Packet,
    /// Port of the switch that it came in by; `None` if the switch itself sends it.
    pub ingress: Option<usize>,
    /// Port that it leaves by.
    pub egress: usize,
    /// The instant.
    pub now: Time,
}

/// The queue of the egress port when a packet leaves it (v1model's `deq_qdepth` and `deq_timedelta`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Packets that wait behind this one.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long this one has waited.
    pub sojourn: Span,
}

/// What the ingress makes of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ingress {
    /// The class in which it is queued, if not its own.
    pub class: Option<u16>,
    /// Marked CE, if it is ECN-capable.
    pub mark: bool,
    /// Dropped before the traffic manager.
    pub drop: bool,
    /// A packet for its source (v1model's `clone`, with new headers).
    pub emit: Option<Emission>,
}

/// What the egress makes of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Egress {
    /// Marked CE, if it is ECN-capable.
    pub mark: bool,
    /// A packet for its source.
    pub emit: Option<Emission>,
    /// What the packet carries on about this hop (in-band network telemetry).
    pub telemetry: Option<Telemetry>,
}

/// What a packet says about a hop: an entry of its INT header, three words of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Telemetry {
    /// Packets behind it when it left the queue.
    pub queue_packets: u32,
    /// What else; the program documents the meaning.
    pub values: [u32; 2],
}

impl Telemetry {
    /// Bytes of an entry on the link.
    pub const BYTES: u32 = 12;
    /// Bytes of the header before its first entry: an IP option with its type, its length, and how many entries.
    pub const HEADER_BYTES: u32 = 4;

    /// An entry; what does not fit its word says the most that does.
    pub fn new(queue_packets: u64, values: [u64; 2]) -> Telemetry {
        let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        Telemetry { queue_packets: word(queue_packets), values: values.map(word) }
    }
}

/// What a packet says about the hops behind it, the first of them first: its INT header.
///
/// IPv4 has 40 bytes for options (RFC 791 section 3.1), and so there is room for three. Further hops add nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hops {
    entries: [Telemetry; Hops::MOST],
    count: u8,
}

impl Hops {
    /// Most entries.
    pub const MOST: usize = 3;
    /// By how many bytes they let a packet grow.
    pub(crate) const MOST_BYTES: u32 = Telemetry::HEADER_BYTES + Hops::MOST as u32 * Telemetry::BYTES;

    /// The entries.
    pub fn as_slice(&self) -> &[Telemetry] {
        &self.entries[..usize::from(self.count)]
    }

    /// Adds an entry; answers by how many bytes the packet grows.
    pub fn push(&mut self, entry: Telemetry) -> u32 {
        let Some(place) = self.entries.get_mut(usize::from(self.count)) else { return 0 };
        *place = entry;
        self.count += 1;
        Telemetry::BYTES + if self.count == 1 { Telemetry::HEADER_BYTES } else { 0 }
    }
}

/// A data-plane program. What has come in and was not dropped by the program itself either leaves or is dropped by the
/// traffic manager: each packet has one `on_ingress`, and then one `on_egress` or one `on_drop`. Counters of what waits
/// add at the first and take away at the others.
pub trait Pipeline: Send {
    /// A packet has come in; its way out is known.
    fn on_ingress(&mut self, packet: &PacketView<'_>, state: &mut State) -> Ingress;

    /// A packet leaves its queue for the wire.
    fn on_egress(&mut self, packet: &PacketView<'_>, queue: &QueueView, state: &mut State) -> Egress;

    /// The traffic manager drops a packet that has come in: there is no room, or the discipline decides so.
    fn on_drop(&mut self, packet: &PacketView<'_>, state: &mut State);
}

/// What outlasts a packet: the program's registers and tables, shared with the control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    registers: Vec<Vec<u64>>,
    tables: Vec<Table>,
}

/// A table of exact matches, as the control plane fills it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table {
    entries: BTreeMap<u64, u64>,
    default: u64,
}

/// An array of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterId(usize);

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId(usize);

impl State {
    /// Adds an array of `size` registers, all zero.
    pub fn add_registers(&mut self, size: usize) -> RegisterId {
        self.registers.push(vec![0; size]);
        RegisterId(self.registers.len() - 1)
    }

    /// Adds a table without entries, whose answer to everything is `default`.
    pub fn add_table(&mut self, default: u64) -> TableId {
        self.tables.push(Table { entries: BTreeMap::new(), default });
        TableId(self.tables.len() - 1)
    }

    /// The registers of an array.
    pub fn registers(&self, id: RegisterId) -> &[u64] {
        &self.registers[id.0]
    }

    /// All arrays, in the order in which they were added.
    pub fn arrays(&self) -> impl Iterator<Item = &[u64]> {
        self.registers.iter().map(Vec::as_slice)
    }

    /// The registers of an array, to write.
    pub fn registers_mut(&mut self, id: RegisterId) -> &mut [u64] {
        &mut self.registers[id.0]
    }

    /// What the table says about `key`.
    pub fn lookup(&self, id: TableId, key: u64) -> u64 {
        let table = &self.tables[id.0];
        table.entries.get(&key).copied().unwrap_or(table.default)
    }

    /// Makes a table say `value` about `key`.
    pub fn set_entry(&mut self, id: TableId, key: u64, value: u64) {
        self.tables[id.0].entries.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_room_for_three_hops_and_grows_with_each() {
        let mut hops = Hops::default();
        let entry = |queue| Telemetry::new(queue, [7, u64::MAX]);
        let grown: Vec<u32> = (0..5).map(|queue| hops.push(entry(queue))).collect();
        assert_eq!(grown, [16, 12, 12, 0, 0]);
        assert_eq!(hops.as_slice(), [entry(0), entry(1), entry(2)]);
        assert_eq!(hops.as_slice()[1], Telemetry { queue_packets: 1, values: [7, u32::MAX] });
    }
}
