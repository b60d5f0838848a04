//! # What it does
//! One queue that marks every departing packet that waited longer than a threshold T: no average, no state, and the
//! same threshold for every queue under any scheduler.
//!
//! # Reference
//! Bai, Chen, Chen, Kim and Wu, "Enabling ECN over Generic Packet Scheduling" (TCN), CoNEXT 2016; the authors' code
//! (HKUST-SING/TCN-NS2, TCN-Software) for the thresholds.
//!
//! # Parameters
//! See `aqmlab aqm show tcn`. Under a scheduler it is a child: `drr child [tcn]`.
//!
//! # Deviations
//! Not-ECT packets are dropped beyond the threshold (RFC 3168 section 5), unless `unmarkable` is `pass`, as in the
//! authors' code; one that would leave the queue empty is never dropped. The paper's body was not available:
//! thresholds and behaviour are those of the code.
//!
//! # Promises
//! Order kept; signals at departure; none for a packet that waited at most T; no random numbers; no state per flow.

use super::single::{Gate, Single};
use super::step::{Marker, UNMARKABLE};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::MarkReason;
use crate::units::Span;

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
    probes: &[ProbeSpec { name: "sojourn", unit: "s", help: "Sojourn time of the last packet that left" }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "Not-ECT packets are dropped unless 'unmarkable' is 'pass'; written from the authors' code",
    build,
};

struct Tcn {
    threshold: Span,
    marker: Marker,
    /// Sojourn time of the last packet that left.
    sojourn: Span,
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let (threshold, marker) = (params.span("threshold"), Marker::new(params));
    Ok(Single::boxed(params, Tcn { threshold, marker, sojourn: Span::ZERO }))
}

impl Gate for Tcn {
    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let mut packet = queue.pop()?;
            self.sojourn = cx.now.since(packet.arrival);
            if self.sojourn <= self.threshold {
                return Some(packet);
            }
            if queue.is_empty() {
                cx.mark(&mut packet, MarkReason::Threshold);
                return Some(packet);
            }
            if let Some(packet) = self.marker.hit(packet, cx) {
                return Some(packet);
            }
        }
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.threshold, self.marker) = (params.span("threshold"), Marker::new(params));
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("sojourn", self.sojourn.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms, put_class};
    use super::*;
    use crate::units::Time;

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
        let mut host = Host::new("sp child [tcn threshold 5ms unmarkable pass]");
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
