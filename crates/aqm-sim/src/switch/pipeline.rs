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

/// What a packet says about a hop: an entry of its INT header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// When it left the queue.
    pub at: Time,
    /// Packets and bytes behind it.
    pub queue_packets: u32,
    /// Their bytes.
    pub queue_bytes: u32,
}

/// A data-plane program.
pub trait Pipeline: Send {
    /// A packet has come in; its way out is known.
    fn on_ingress(&mut self, packet: &PacketView<'_>, state: &mut State) -> Ingress;

    /// A packet leaves its queue for the wire.
    fn on_egress(&mut self, _packet: &PacketView<'_>, _queue: &QueueView, _state: &mut State) -> Egress {
        Egress::default()
    }
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

    /// The same, to write.
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

    /// Bands by DSCP, and the bytes of each counted.
    struct Classifier {
        bands: TableId,
        bytes: RegisterId,
    }

    impl Pipeline for Classifier {
        fn on_ingress(&mut self, view: &PacketView<'_>, state: &mut State) -> Ingress {
            let band = state.lookup(self.bands, view.packet.dscp.into());
            state.registers_mut(self.bytes)[band as usize] += u64::from(view.packet.length);
            Ingress { class: Some(band as u16), ..Ingress::default() }
        }

        fn on_egress(&mut self, view: &PacketView<'_>, queue: &QueueView, _state: &mut State) -> Egress {
            let (queue_packets, queue_bytes) = (queue.packets as u32, queue.bytes as u32);
            Egress {
                telemetry: Some(Telemetry { at: view.now, queue_packets, queue_bytes }),
                ..Egress::default()
            }
        }
    }

    #[test]
    fn a_program_classifies_by_dscp_counts_bytes_and_reports_the_queue() {
        let mut state = State::default();
        let (bands, bytes) = (state.add_table(2), state.add_registers(3));
        state.set_entry(bands, 46, 0); // EF
        state.set_entry(bands, 26, 1); // AF31
        let mut program = Classifier { bands, bytes };
        let mut classes = Vec::new();
        for (dscp, length) in [(46, 200), (0, 1500), (26, 1000), (46, 200)] {
            let mut packet = Packet::new(0, 1, length);
            packet.dscp = dscp;
            let view = PacketView { packet: &packet, ingress: Some(0), egress: 1, now: Time::ZERO };
            classes.push(program.on_ingress(&view, &mut state).class.unwrap());
        }
        assert_eq!(classes, [0, 2, 1, 0]);
        assert_eq!(state.registers(bytes), [400, 1000, 1500]);

        let packet = Packet::new(0, 1, 1500);
        let view = PacketView { packet: &packet, ingress: None, egress: 1, now: Time::from_nanos(7) };
        let queue = QueueView { packets: 3, bytes: 2700, sojourn: Span::from_micros(20) };
        let telemetry = program.on_egress(&view, &queue, &mut state).telemetry.unwrap();
        assert_eq!((telemetry.at, telemetry.queue_packets, telemetry.queue_bytes), (view.now, 3, 2700));
    }
}
