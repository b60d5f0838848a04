//! Records the packets at one end of every flow or around queues, as a capture there would: headers alone, as pcapng.

use super::observer::{AtHost, AtQueue, Dropped, DroppedBy, PacketObserver};
use crate::headers::TCP;
use crate::network::hosts::Socket;
use crate::network::packet::{Packet, PacketId, Role};
use crate::report::Report;
use crate::scenario::Tap;
use crate::transport::flags;
use aqm_core::units::{Span, Time};
use aqm_io::capture::{Frame, Headers, LinkType, PcapngWriter, Transport};

/// So that a run cannot fill the memory: about two gigabytes.
const MOST: u64 = 16_000_000;

/// Interfaces of a capture around queues.
const QUEUE: [&str; 3] = ["before", "behind", "dropped"];
const BEFORE: u32 = 0;
const BEHIND: u32 = 1;
const DROPPED: u32 = 2;

/// What has been recorded.
pub(crate) struct Recorder {
    tap: Tap,
    /// Of every flow, its sender and its receiver.
    sockets: Vec<[Socket; 2]>,
    writer: PcapngWriter,
    recorded: u64,
    /// Of packets in flight, by their number: what is recorded at queues.
    under_way: Vec<UnderWay>,
    /// Of packets in flight, by their number: their timestamps option.
    stamps: Vec<Stamps>,
    /// Of every flow: the latest time of the receiver that its sender has heard of, which it echoes (RFC 7323).
    heard: Vec<Time>,
}

/// The timestamps option: the time of sending, and the time that is echoed.
type Stamps = (Time, Time);

/// A packet between its hosts, if it has headers, and whether it is in a queue.
#[derive(Clone, Default)]
struct UnderWay {
    headers: Option<Headers>,
    is_queued: bool,
}

impl Recorder {
    pub(crate) fn new(tap: Tap, sockets: Vec<[Socket; 2]>) -> Recorder {
        Recorder {
            tap,
            sockets,
            writer: match tap {
                Tap::Queue => PcapngWriter::with_interfaces(LinkType::RAW_IP, &QUEUE),
                Tap::Senders | Tap::Receivers | Tap::Home => PcapngWriter::new(LinkType::RAW_IP),
            },
            recorded: 0,
            under_way: Vec::new(),
            stamps: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// Notes when a packet is sent, and what time its sender echoes.
    fn stamp(&mut self, &AtHost { id, packet, now, .. }: &AtHost<'_>) {
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
    fn record(&mut self, seen: &AtHost<'_>, sent: bool) {
        let (headers, back) = (self.headers(seen), seen.packet.role == Role::Ack);
        let is_here = match self.tap {
            Tap::Senders => sent != back,
            Tap::Receivers => sent == back,
            Tap::Home => {
                let [source, destination] = self.ends(seen.packet.flow, back);
                // What stays at home is seen once.
                if sent { source.is_home } else { destination.is_home && !source.is_home }
            }
            Tap::Queue => {
                // It has left its last queue, or has not come to the first.
                *at(&mut self.under_way, seen.id) =
                    UnderWay { headers: headers.filter(|_| sent), is_queued: false };
                return;
            }
        };
        if let Some(headers) = headers.filter(|_| is_here) {
            self.write(0, &headers, seen.now, None);
        }
    }

    /// Where a packet of a flow comes from, and where it goes.
    fn ends(&self, flow: u32, back: bool) -> [Socket; 2] {
        let [sender, receiver] = self.sockets[flow as usize];
        if back { [receiver, sender] } else { [sender, receiver] }
    }

    /// The headers of a packet at a host.
    fn headers(&mut self, seen: &AtHost<'_>) -> Option<Headers> {
        let &AtHost { id, packet, protocol, dscp, .. } = seen;
        let back = match packet.role {
            Role::Data | Role::Datagram => false,
            Role::Ack => true,
            // What switches and receivers say about congestion has no format of its own.
            Role::Feedback | Role::Pause => return None,
        };
        let [source, destination] = self.ends(packet.flow, back).map(|end| (end.address, end.port));
        let payload = if back { 0 } else { packet.payload.min(u32::from(u16::MAX) - 100) as u16 };
        Some(Headers {
            source,
            destination,
            dscp,
            ecn: packet.ecn,
            payload,
            transport: if protocol == TCP { tcp(packet, *at(&mut self.stamps, id)) } else { Transport::Udp },
        })
    }

    fn write(&mut self, interface: u32, headers: &Headers, time: Time, comment: Option<&str>) {
        if self.recorded < MOST {
            self.recorded += 1;
            let data = headers.bytes();
            let frame = Frame { time, data: &data, wire_length: headers.wire_length(&data) };
            self.writer.add_at(interface, &frame, comment);
        }
    }

    /// A packet comes to a queue, unless that has been recorded.
    fn arrive(&mut self, id: PacketId, now: Time) -> Option<Headers> {
        let packet = at(&mut self.under_way, id);
        let headers = packet.headers?;
        if !std::mem::replace(&mut packet.is_queued, true) {
            self.write(BEFORE, &headers, now, None);
        }
        Some(headers)
    }
}

impl PacketObserver for Recorder {
    fn on_sent(&mut self, seen: &AtHost<'_>) {
        self.stamp(seen);
        self.record(seen, true);
    }

    fn on_received(&mut self, seen: &AtHost<'_>) {
        self.hear(seen);
        self.record(seen, false);
    }

    fn on_enqueue(&mut self, seen: &AtQueue<'_>) {
        self.arrive(seen.id, seen.now);
    }

    fn on_dequeue(&mut self, seen: &AtQueue<'_>, _sojourn: Span) {
        let packet = at(&mut self.under_way, seen.id);
        packet.is_queued = false;
        if let Some(headers) = &mut packet.headers {
            headers.ecn = seen.packet.ecn;
            let headers = *headers;
            self.write(BEHIND, &headers, seen.now, None);
        }
    }

    fn on_drop(&mut self, dropped: &Dropped<'_>) {
        let headers = match dropped.by {
            // It has left its queue, if the link has one.
            DroppedBy::Wire => at(&mut self.under_way, dropped.id).headers,
            // The drop of one that is not let in is reported before its arrival.
            _ => self.arrive(dropped.id, dropped.now),
        };
        if let Some(headers) = headers {
            let comment = match dropped.by {
                DroppedBy::Discipline(reason, _) => format!("{}, after {}", reason.name(), dropped.sojourn),
                by => format!("{}, {}", by.reason_name(), by.place_name()),
            };
            self.write(DROPPED, &headers, dropped.now, Some(&comment));
        }
        *at(&mut self.under_way, dropped.id) = UnderWay::default();
    }

    fn report(&mut self, report: &mut Report, _end: Time) {
        report.packets = self.writer.take();
        if self.recorded == MOST {
            report.warnings.push("there are more packets than are recorded".to_owned());
        }
    }
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
