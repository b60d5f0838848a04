//! Records the packets at one end of every flow, as a capture there would: headers alone, as pcapng.

use super::observer::{AtHost, PacketObserver};
use crate::network::packet::{Packet, Role};
use crate::report::Report;
use crate::scenario::Tap;
use crate::transport::flags;
use aqm_core::units::Time;
use aqm_io::capture::{Frame, Headers, LinkType, PcapngWriter, Transport};

/// The first port of Linux's range, and iperf3's.
const PORTS: (u16, u16) = (49_152, 5_201);
const TCP: u8 = 6;
/// Of a flow's addresses, those of receivers.
const RECEIVERS: u32 = 1 << 23;
/// So that a run cannot fill the memory: about two gigabytes.
const MOST: u64 = 16_000_000;

/// What has been recorded.
pub(crate) struct Recorder {
    tap: Tap,
    writer: PcapngWriter,
    recorded: u64,
    /// Of packets on their way, by their number: their timestamps option.
    stamps: Vec<Stamps>,
    /// Of every flow: the latest time of the receiver that its sender has heard of, which it echoes (RFC 7323).
    heard: Vec<Time>,
}

/// The timestamps option: the time of sending, and the time that is echoed.
type Stamps = (Time, Time);

impl Recorder {
    pub(crate) fn new(tap: Tap) -> Recorder {
        Recorder {
            tap,
            writer: PcapngWriter::new(LinkType::RawIp),
            recorded: 0,
            stamps: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// Notes when a packet is sent, and what time its sender echoes.
    fn note(&mut self, &AtHost { id, packet, now, .. }: &AtHost<'_>) {
        let echo = match packet.role {
            Role::Data => self.heard.get(packet.flow as usize).copied().unwrap_or_default(),
            Role::Ack => packet.stamp,
            Role::Datagram | Role::Feedback | Role::Pause => return,
        };
        *at(&mut self.stamps, id) = (now, echo);
    }

    /// Notes what the sender of a flow hears of its receiver's time.
    fn hear(&mut self, &AtHost { id, packet, .. }: &AtHost<'_>) {
        if packet.role == Role::Ack {
            let (sent, _) = *at(&mut self.stamps, id);
            let heard = at(&mut self.heard, packet.flow);
            *heard = sent.max(*heard);
        }
    }

    /// Records a packet that is sent (`sent`) or arrives, if it is at the end of its flow that is recorded.
    fn record(&mut self, &AtHost { id, packet, protocol, dscp, now, .. }: &AtHost<'_>, sent: bool) {
        let back = match packet.role {
            Role::Data | Role::Datagram => false,
            Role::Ack => true,
            // What switches and receivers say about congestion has no format of its own.
            Role::Feedback | Role::Pause => return,
        };
        if (sent != back) != (self.tap == Tap::Senders) || self.recorded == MOST {
            return;
        }
        self.recorded += 1;
        let ends = [(address(packet.flow), PORTS.0), (address(packet.flow | RECEIVERS), PORTS.1)];
        let [source, destination] = if back { [ends[1], ends[0]] } else { ends };
        let payload = if back { 0 } else { packet.payload.min(u32::from(u16::MAX) - 100) as u16 };
        let headers = Headers {
            source,
            destination,
            dscp,
            ecn: packet.ecn,
            payload,
            transport: if protocol == TCP { tcp(packet, *at(&mut self.stamps, id)) } else { Transport::Udp },
        };
        let data = headers.bytes();
        let frame = Frame { time: now, data: &data, wire_length: headers.wire_length(&data) };
        self.writer.add(&frame, None);
    }
}

impl PacketObserver for Recorder {
    fn on_sent(&mut self, seen: &AtHost<'_>) {
        self.note(seen);
        self.record(seen, true);
    }

    fn on_received(&mut self, seen: &AtHost<'_>) {
        self.hear(seen);
        self.record(seen, false);
    }

    fn report(&mut self, report: &mut Report, _end: Time) {
        report.packets = self.writer.take();
        if self.recorded == MOST {
            report.warnings.push("there are more packets than are recorded".to_owned());
        }
    }
}

/// 10.0.0.0/8, whose upper half are receivers.
fn address(number: u32) -> [u8; 4] {
    let [_, high, middle, low] = number.to_be_bytes();
    [10, high, middle, low]
}

/// The entry of a number, which is made if there is none.
fn at<T: Clone + Default>(entries: &mut Vec<T>, number: u32) -> &mut T {
    let place = number as usize;
    if place >= entries.len() {
        entries.resize(place + 1, T::default());
    }
    &mut entries[place]
}

/// A SYN has the sequence number 0, the first byte 1.
fn tcp(packet: &Packet, stamps: Stamps) -> Transport {
    let number = packet.number as u32;
    let syn = packet.flags & flags::SYN != 0;
    let sack = |place: usize| {
        (place < usize::from(packet.sack_count)).then(|| {
            let (start, end) = packet.sack[place];
            (number.wrapping_add(start).wrapping_add(1), number.wrapping_add(end).wrapping_add(1))
        })
    };
    match (packet.role, syn) {
        (Role::Ack, _) => Transport::Tcp {
            sequence: u32::from(!syn),
            acknowledgment: number.wrapping_add(1),
            flags: packet.flags,
            stamps,
            sack: [sack(0), sack(1), sack(2)],
        },
        // A recorded segment has its own numbers.
        (Role::Datagram, _) => Transport::Tcp {
            sequence: number,
            acknowledgment: packet.sack[0].0,
            flags: packet.flags,
            stamps: (packet.stamp, Time::ZERO),
            sack: [None; 3],
        },
        (_, true) => {
            Transport::Tcp { sequence: 0, acknowledgment: 0, flags: packet.flags, stamps, sack: [None; 3] }
        }
        (_, false) => Transport::Tcp {
            sequence: number.wrapping_add(1),
            acknowledgment: 1,
            flags: packet.flags | flags::ACK,
            stamps,
            sack: [None; 3],
        },
    }
}
