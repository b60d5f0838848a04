//! # What it does
//! One queue that marks every arriving packet while more than a threshold K is queued: no average, no randomness.
//!
//! # Reference
//! RFC 8257 sections 3.1 and 4.1 (DCTCP); Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, sections 3.1 and
//! 3.4.
//!
//! # Parameters
//! See `aqmlab aqm show dctcp_step`.
//!
//! # Deviations
//! Not-ECT packets are dropped beyond the threshold (RFC 3168 section 5), unless
//! `unmarkable` is `pass`; RFC 8257 leaves them to the operator. The queue is compared without the arriving packet.
//!
//! # Promises
//! Order kept; signals on arrival only; no signal while at most K is queued; no random numbers; no state per flow.

use super::single::{Gate, Single};
use super::step::{Marker, UNMARKABLE};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::Size;

/// The registry entry.
pub static INFO: Info = Info {
    name: "dctcp_step",
    group: Group::QueueLength,
    summary: "Marks every packet while the queue is longer than a threshold (DCTCP)",
    reference: "RFC 8257; Alizadeh et al. 2010",
    params: &[
        LIMIT,
        ParamSpec::new(
            "threshold",
            Kind::Size,
            Value::Size(Size::Packets(20)),
            (0.0, 1e12),
            "Queue above which packets are marked (K); more than a seventh of rate times round-trip time",
            "Alizadeh 2010 section 3.4: 20 packets at 1 Gbit/s",
        ),
        UNMARKABLE,
    ],
    presets: &[
        Preset {
            name: "alizadeh2010_1g",
            source: "Alizadeh et al. 2010, section 3.4, 1 Gbit/s",
            values: &[],
        },
        Preset {
            name: "alizadeh2010_10g",
            source: "Alizadeh et al. 2010, section 3.4, 10 Gbit/s",
            values: &[("threshold", Value::Size(Size::Packets(65)))],
        },
    ],
    probes: &[ProbeSpec { name: "above", unit: "0/1", help: "Whether more than the threshold waits" }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 20,
        flow_state_bytes: 0,
    },
    deviations: "Not-ECT packets are dropped beyond the threshold unless 'unmarkable' is 'pass'",
    build,
};

struct DctcpStep {
    threshold: Size,
    marker: Marker,
}

fn settings(params: &Params) -> DctcpStep {
    let threshold = params.size("threshold").expect("threshold has no auto");
    DctcpStep { threshold, marker: Marker::new(params) }
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, settings(params)))
}

impl Gate for DctcpStep {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        if queue.backlog().exceeds(self.threshold) { self.marker.hit(packet, cx) } else { Some(packet) }
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        *self = settings(params);
        Ok(())
    }

    fn probe(&self, queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("above", f64::from(u8::from(queue.backlog().exceeds(self.threshold))));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn packets_that_find_more_than_the_threshold_are_marked() {
        let mut host = Host::new("dctcp_step threshold 3p");
        (0..6).for_each(|cookie| host.put_ect(ms(0), cookie, 0, 1000));
        assert_eq!(host.marked(), [4, 5]); // they find 4 and 5; packet 3 finds 3
        (0..4).for_each(|_| _ = host.get(ms(1)));
        host.put_ect(ms(1), 6, 0, 1000); // finds 2: a step has no memory
        assert_eq!((host.marked().len(), host.probe("above")), (2, 0.0));
    }

    #[test]
    fn a_threshold_in_bytes_counts_bytes() {
        let mut host = Host::new("dctcp_step threshold 2500b");
        (0..5).for_each(|cookie| host.put_ect(ms(0), cookie, 0, 1000));
        assert_eq!((host.marked(), host.probe("above")), (alloc::vec![3, 4], 1.0));
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_or_passed_as_asked() {
        let run = |spec| {
            let mut host = Host::new(spec);
            (0..4).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
            host.dropped()
        };
        assert_eq!(run("dctcp_step threshold 1p"), [2, 3]);
        assert_eq!(run("dctcp_step threshold 1p unmarkable pass").len(), 0);
    }

    #[test]
    fn a_full_queue_drops_what_it_would_have_marked() {
        let mut host = Host::new("dctcp_step threshold 1p limit 3p");
        (0..5).for_each(|cookie| host.put_ect(ms(0), cookie, 0, 1000));
        assert_eq!((host.marked(), host.dropped()), (alloc::vec![2], alloc::vec![3, 4]));
    }
}
