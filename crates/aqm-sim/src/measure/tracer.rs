//! Traces every flow at its sender: what it sends and what becomes of it, which acknowledgments come, and the windows and
//! timers of TCP at that time.

use super::observer::{AnySender, AtHost, Dropped, PacketObserver};
use crate::network::packet::{Packet, PacketId, Role};
use crate::report::{Fate, Report, SenderRow, TraceRow};
use crate::transport::flags;
use aqm_core::packet::Ecn;
use aqm_core::units::Time;

/// So that a run cannot fill the memory: about a gigabyte.
const MOST: usize = 10_000_000;
/// Of a packet that is not traced.
const NONE: usize = usize::MAX;

/// The trace of one run.
#[derive(Default)]
pub(crate) struct Tracer {
    rows: Vec<TraceRow>,
    /// The row of each packet in flight, by its place in the slab.
    under_way: Vec<usize>,
}

impl Tracer {
    fn add(&mut self, &AtHost { packet, sender, now, .. }: &AtHost<'_>) {
        let offsets = packet.sack[..usize::from(packet.sack_count)].iter();
        self.rows.push(TraceRow {
            time_ns: now.as_nanos(),
            flow: packet.flow,
            is_ack: packet.role == Role::Ack,
            number: packet.number,
            length: if packet.role == Role::Ack { 0 } else { packet.payload },
            edge: offsets.map(|&(_, end)| packet.number + u64::from(end)).max().unwrap_or(0),
            echo: packet.role == Role::Ack && packet.flags & flags::ECE != 0,
            fate: Fate::UnderWay,
            sender: if let AnySender::Tcp(sender) = sender { sender.row() } else { SenderRow::default() },
        });
    }

    fn meets(&mut self, id: PacketId, fate: Fate) {
        if let Some(row) = self.under_way.get_mut(id as usize)
            && *row != NONE
        {
            self.rows[std::mem::replace(row, NONE)].fate = fate;
        }
    }
}

/// Neither a SYN nor its answer.
fn is_of_stream(packet: &Packet) -> bool {
    packet.flags & flags::SYN == 0
}

impl PacketObserver for Tracer {
    fn on_sent(&mut self, seen: &AtHost<'_>) {
        let place = seen.id as usize;
        if self.under_way.len() <= place {
            self.under_way.resize(place + 1, NONE);
        }
        let is_data = matches!(seen.packet.role, Role::Data | Role::Datagram) && seen.packet.payload > 0;
        let is_traced = is_data && is_of_stream(seen.packet) && self.rows.len() < MOST;
        self.under_way[place] = if is_traced { self.rows.len() } else { NONE };
        if is_traced {
            self.add(seen);
        }
    }

    fn on_received(&mut self, seen: &AtHost<'_>) {
        self.meets(seen.id, if seen.packet.ecn == Ecn::Ce { Fate::Marked } else { Fate::Delivered });
        if seen.packet.role == Role::Ack && is_of_stream(seen.packet) && self.rows.len() < MOST {
            self.add(seen);
        }
    }

    fn on_drop(&mut self, dropped: &Dropped<'_>) {
        self.meets(dropped.id, Fate::Dropped);
    }

    fn report(&mut self, report: &mut Report, _end: Time) {
        report.trace = std::mem::take(&mut self.rows);
        if report.trace.len() == MOST {
            report.warnings.push("there are more packets than are traced".to_owned());
        }
    }
}
