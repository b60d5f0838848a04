//! # What it does
//! One queue that marks every leaving packet that waited longer than a threshold T: no average, no state, and the same
//! threshold for every queue whatever the scheduler above it.
//!
//! # Reference
//! Bai, Chen, Chen, Kim and Wu, "Enabling ECN over Generic Packet Scheduling" (TCN), CoNEXT 2016; the authors' code
//! (HKUST-SING/TCN-NS2, TCN-Software) for the thresholds.
//!
//! # Parameters
//! See `aqmlab aqm show tcn`. Under a scheduler it is a child: `drr child tcn`.
//!
//! # Deviations
//! Packets of transports that do not understand marks are dropped beyond the threshold (RFC 3168 section 5), unless
//! `unmarkable` is `pass`, as it is in the authors' code; one that leaves nothing behind is never dropped. The paper's body was not available: thresholds and behaviour are
//! those of the code.
//!
//! # Promises
//! Order kept; signals when packets leave; none for a packet that waited no longer than T; no random numbers; no state
//! per flow.

use super::step::{Marker, UNMARKABLE};
use super::{Backlog, Built, Discipline, Group, Info, LIMIT, Link, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::{DropReason, MarkReason};
use crate::units::{Size, Span, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "tcn",
    group: Group::Delay,
    summary: "Marks every packet that waited longer than a threshold, under any scheduler",
    reference: "Bai, Chen, Chen, Kim and Wu 2016",
    params: &[
        LIMIT,
        ParamSpec::new(
            "threshold",
            Kind::Span,
            Value::Span(Span::from_micros(256)),
            (0.0, 1e10),
            "Sojourn time above which packets are marked (T); 0.17 round-trip times for DCTCP",
            "TCN-Software: 250 units of 1.024 us, 32 KB at 1 Gbit/s",
        ),
        UNMARKABLE,
    ],
    presets: &[
        Preset { name: "software", source: "HKUST-SING/TCN-Software sch_dwrr, 1 Gbit/s", values: &[] },
        Preset {
            name: "ns2",
            source: "HKUST-SING/TCN-NS2 queue/prio_dwrr.cc: 65 packets of 1500 bytes at 10 Gbit/s",
            values: &[("threshold", Value::Span(Span::from_micros(78)))],
        },
    ],
    probes: &[ProbeSpec { name: "sojourn", unit: "s", help: "How long the packet waited that left last" }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "packets that cannot be marked are dropped unless 'unmarkable' is 'pass'; written from the authors' code",
    build,
};

struct Tcn {
    queue: Fifo,
    limit: Size,
    threshold: Span,
    marker: Marker,
    sojourn: Span,
}

fn settings(params: &Params) -> (Size, Span, Marker) {
    let limit = params.size("limit").expect("limit has no auto");
    (limit, params.span("threshold"), Marker::new(params))
}

fn build(params: &Params, _link: &Link) -> Built {
    let (limit, threshold, marker) = settings(params);
    Ok(Box::new(Tcn { queue: Fifo::default(), limit, threshold, marker, sojourn: Span::ZERO }))
}

impl Discipline for Tcn {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        if self.queue.backlog().would_exceed(self.limit, packet.length) {
            return cx.drop(packet, DropReason::Overlimit);
        }
        self.queue.push(packet);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let mut packet = self.queue.pop()?;
            self.sojourn = cx.now.since(packet.arrival);
            if self.sojourn <= self.threshold {
                return Some(packet);
            }
            if self.queue.is_empty() {
                cx.mark(&mut packet, MarkReason::Threshold);
                return Some(packet);
            }
            if let Some(packet) = self.marker.hit(packet, cx) {
                return Some(packet);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.limit, self.threshold, self.marker) = settings(params);
        self.queue.trim(self.limit, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.queue.purge(cx);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("sojourn", self.sojourn.as_secs_f64());
    }

    fn state_bytes(&self) -> usize {
        size_of::<Tcn>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class};
    use super::*;

    #[test]
    fn packets_that_waited_longer_than_the_threshold_are_marked() {
        let mut host = Host::new("tcn threshold 5ms");
        (0..3).for_each(|cookie| host.put_ect(ms(0), cookie, 0, 1000));
        host.put_ect(ms(3), 3, 0, 1000);
        assert_eq!(host.get(ms(5)), Some(0));
        assert_eq!(host.get(Time::from_nanos(5_000_001)), Some(1));
        assert_eq!(host.probe("sojourn"), 0.005_000_001);
        assert_eq!([host.get(ms(7)), host.get(ms(7))], [Some(2), Some(3)]); // 7 ms and 4 ms
        assert_eq!(host.marked(), [1, 2]);
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_or_passed_as_asked() {
        let run = |spec| {
            let mut host = Host::new(spec);
            (0..3).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
            host.put(ms(4), 3, 0, 1000);
            (host.get(ms(6)), host.dropped())
        };
        assert_eq!(run("tcn threshold 5ms"), (Some(3), alloc::vec![0, 1, 2]));
        assert_eq!(run("tcn threshold 5ms unmarkable pass"), (Some(0), alloc::vec![]));
    }

    #[test]
    fn the_last_packet_is_marked_but_never_dropped() {
        let mut host = Host::new("tcn threshold 5ms");
        (0..2).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
        assert_eq!((host.get(ms(9)), host.dropped()), (Some(1), alloc::vec![0]));
        host.put_ect(ms(10), 2, 0, 1000);
        assert_eq!((host.get(ms(19)), host.marked()), (Some(2), alloc::vec![2]));
    }

    #[test]
    fn under_a_scheduler_each_class_marks_by_its_own_delay() {
        let mut host = Host::new("sp child tcn/threshold=5ms/unmarkable=pass");
        for cookie in 0..4u64 {
            let mut packet = Packet::new(cookie, 0, 1000);
            (packet.class, packet.ecn) = ((cookie % 2) as u16, crate::packet::Ecn::Ect0);
            host.enqueue(ms(0), packet);
        }
        put_class(&mut host, 9, 0, 1000); // not ECN-capable
        assert_eq!([1, 2, 6, 7, 8].map(|at| host.get(ms(at)).unwrap()), [0, 2, 9, 1, 3]);
        assert_eq!(host.marked(), [1, 3]);
    }
}
