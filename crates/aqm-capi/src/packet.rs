//! What crosses the border: plain structures.

use crate::status::Failure;
use aqm_core::backlog::Backlog;
use aqm_core::counters::Counters as Counts;
use aqm_core::packet::{self, Ecn, TcpView};
use aqm_core::signal::DropReason;
use std::ffi::{CStr, c_uint};

/// The parts of a TCP header that ACK filters read.
#[repr(C)]
pub struct Tcp {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Bytes of payload.
    pub payload: u16,
    /// Flags as on the wire: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128.
    pub flags: u8,
    /// Not 0 if it carries SACK blocks.
    pub has_sack: u8,
}

/// What a discipline sees of a packet. Fields that are zero are right where you know nothing better.
#[repr(C)]
pub struct Packet {
    /// Yours: disciplines never read it.
    pub cookie: u64,
    /// Hash of the flow, usually of its 5-tuple. Tables are indexed by its bits: aqmlab_hash() makes one.
    pub flow: u64,
    /// Hash of the source host.
    pub source: u32,
    /// Hash of the destination host.
    pub destination: u32,
    /// Bytes on the link, link-layer overhead included; not 0.
    pub length: u32,
    /// Class, for disciplines that serve classes.
    pub traffic_class: u16,
    /// Port by which it came into a switch.
    pub ingress: u16,
    /// DiffServ code point, 0 to 63.
    pub dscp: u8,
    /// ECN field as in the IP header: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// IP protocol: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// Its TCP header, or null. It is read during the call only.
    pub tcp: *const Tcp,
}

impl Packet {
    /// The same for a discipline.
    #[inline]
    pub(crate) fn read(&self, tcp: Option<&Tcp>) -> Result<packet::Packet, Failure> {
        let ecn = ecn(self.ecn)?;
        if self.dscp > 63 {
            return Err(Failure::input(format!("dscp is {}: give 0 to 63", self.dscp)));
        }
        if self.length == 0 {
            return Err(Failure::input("length is 0: give the bytes on the link"));
        }
        Ok(packet::Packet {
            source: self.source,
            destination: self.destination,
            tcp: tcp.map(|tcp| TcpView {
                seq: tcp.seq,
                ack: tcp.ack,
                payload: tcp.payload,
                flags: tcp.flags,
                has_sack: tcp.has_sack != 0,
            }),
            class: self.traffic_class,
            ingress: self.ingress,
            dscp: self.dscp,
            ecn,
            protocol: self.protocol,
            ..packet::Packet::new(self.cookie, self.flow, self.length)
        })
    }
}

/// An ECN field.
#[inline]
pub(crate) fn ecn(field: u8) -> Result<Ecn, Failure> {
    Ok(match field {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        other => return Err(Failure::input(format!("ecn is {other}: give 0 to 3"))),
    })
}

/// A packet that leaves.
#[repr(C)]
pub struct Departure {
    /// That of the packet.
    pub cookie: u64,
    /// Nanoseconds that it waited.
    pub sojourn_ns: u64,
    /// Its ECN field now: 3 (CE) if it was marked, here or before it came.
    pub ecn: u8,
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum EventKind {
    /// It was dropped: an arriving packet, or one that waited.
    AqmlabDropped = 0,
    /// It was marked CE; it still waits, or is about to leave.
    AqmlabMarked = 1,
}

/// What a discipline did to a packet.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    /// That of the packet.
    pub cookie: u64,
    /// What it did.
    pub kind: EventKind,
    /// Why, by a number that stays; aqmlab_reason() has its name. Drops: 1 overlimit, 2 congestion, 3 unfair,
    /// 4 reconfigured, 5 redundant, 6 other. Marks: 1 congestion, 2 threshold.
    pub reason: u8,
}

/// The name of a reason for a kind of event, as numbers of C.
pub(crate) fn reason_name(kind: c_uint, reason: u8) -> Option<&'static CStr> {
    let names: &[&CStr] = match kind {
        kind if kind == EventKind::AqmlabDropped as c_uint => &DROPS,
        kind if kind == EventKind::AqmlabMarked as c_uint => &MARKS,
        _ => return None,
    };
    Some(names.get(usize::from(reason)).unwrap_or(&names[0]))
}

const DROPS: [&CStr; DropReason::COUNT] =
    [c"unspecified", c"overlimit", c"congestion", c"unfair", c"reconfigured", c"redundant", c"other"];
const MARKS: [&CStr; 3] = [c"unspecified", c"congestion", c"threshold"];

/// Counts since the queue was made or reset. What arrived has departed, was dropped, or waits.
#[repr(C)]
pub struct Counters {
    /// Packets that arrived.
    pub arrived: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets that left.
    pub departed: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Those of them that the law chose to drop: not because the queue was full, nor by a change.
    pub dropped_early: u64,
    /// Bytes of all that were dropped.
    pub dropped_bytes: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that wait.
    pub queued: u64,
    /// Their bytes.
    pub queued_bytes: u64,
    /// Sum of the times that departed packets waited, in nanoseconds.
    pub sojourn_sum_ns: u64,
    /// The longest of them.
    pub sojourn_max_ns: u64,
}

impl Counters {
    pub(crate) fn of(counts: &Counts, backlog: Backlog) -> Counters {
        Counters {
            arrived: counts.arrived,
            arrived_bytes: counts.arrived_bytes,
            departed: counts.departed,
            departed_bytes: counts.departed_bytes,
            dropped: counts.dropped_total(),
            dropped_early: counts.dropped_early(),
            dropped_bytes: counts.dropped_bytes,
            marked: counts.marked,
            queued: backlog.packets,
            queued_bytes: backlog.bytes,
            sojourn_sum_ns: counts.sojourn_sum.as_nanos(),
            sojourn_max_ns: counts.sojourn_max.as_nanos(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_drops_are_named_as_in_files() {
        let named: Vec<_> = DROPS.iter().map(|name| name.to_str().unwrap()).collect();
        assert_eq!(named, DropReason::ALL.map(DropReason::name));
    }

    #[test]
    fn every_field_reaches_the_discipline() {
        let tcp = Tcp { seq: 1, ack: 2, payload: 3, flags: 4, has_sack: 5 };
        let given = Packet {
            cookie: 6,
            flow: 7,
            source: 8,
            destination: 9,
            length: 10,
            traffic_class: 11,
            ingress: 12,
            dscp: 13,
            ecn: 1,
            protocol: 14,
            tcp: &raw const tcp,
        };
        let expected = packet::Packet {
            source: 8,
            destination: 9,
            tcp: Some(TcpView { seq: 1, ack: 2, payload: 3, flags: 4, has_sack: true }),
            class: 11,
            ingress: 12,
            dscp: 13,
            ecn: Ecn::Ect1,
            protocol: 14,
            ..packet::Packet::new(6, 7, 10)
        };
        let seen = |tcp| format!("{:?}", given.read(tcp).unwrap());
        assert_eq!(seen(Some(&tcp)), format!("{expected:?}"));
        assert_eq!(seen(None), format!("{:?}", packet::Packet { tcp: None, ..expected }));
    }
}
