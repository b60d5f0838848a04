//! # What it does
//! One queue under a proportional integral controller: arriving packets are dropped (or marked) with a probability
//! that is updated once per period so that the queue settles at a reference length.
//!
//! # Reference
//! C. Hollot, V. Misra, D. Towsley and W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows"
//! (INFOCOM 2001).
//!
//! # Parameters
//! See `aqmlab aqm show pi`. The gains are for a link of 3750 packets/s with about sixty flows and a round-trip time
//! of a quarter of a second; other links need other gains.
//!
//! # Deviations
//! p(k) = p(k-1) + a (q(k) - q_ref) - b (q(k-1) - q_ref) is computed as (a - b) (q(k) - q_ref) + b (q(k) - q(k-1)),
//! which is equivalent. Beyond `mark_threshold` packets are dropped even if they could be marked (RFC 7567 section
//! 4.2.1; the paper always marks). With a target in bytes the queue counts as packets of `avpkt` bytes.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet that finds space; updates once per
//! period through wake-ups, at most 16 of them late.

use super::early::{self, Early};
use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::{Controlled, Pi as Law};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::{Bytes, Size, Span, Time};

/// The registry entry.
pub static INFO: Info = Info {
    name: "pi",
    group: Group::QueueLength,
    summary: "Proportional integral controller on the queue length",
    reference: "Hollot, Misra, Towsley and Gong 2001",
    params: &[
        LIMIT,
        ParamSpec::new(
            "target",
            Kind::Size,
            Value::Size(Size::Packets(200)),
            (1.0, 1e12),
            "Queue that the controller aims at (q_ref)",
            "Hollot 2001 section V: 200 packets",
        ),
        ParamSpec::new(
            "a",
            Kind::Number,
            Value::Number(1.822e-5),
            (0.0, 1.0),
            "Weight of the queue now, per packet",
            "Hollot 2001 section V: 1.822e-5",
        ),
        ParamSpec::new(
            "b",
            Kind::Number,
            Value::Number(1.816e-5),
            (0.0, 1.0),
            "Weight of the queue a period ago, per packet",
            "Hollot 2001 section V: 1.816e-5",
        ),
        ParamSpec::new(
            "tupdate",
            Kind::Span,
            Value::Span(Span::from_micros(6250)),
            (1e4, 1e10),
            "Period of the controller",
            "Hollot 2001 section V: 160 times a second",
        ),
        AVPKT,
        early::ECN,
        early::MARK_THRESHOLD,
    ],
    presets: &[
        Preset { name: "hollot2001", source: "Hollot et al. 2001, section V", values: &[] },
        Preset {
            name: "ns2",
            source: "ns-2.35 tcl/lib/ns-default.tcl (Queue/PI: 50 packets, 170 times a second)",
            values: &[
                ("target", Value::Size(Size::Packets(50))),
                ("tupdate", Value::Span(Span::from_nanos(5_882_353))),
                ("avpkt", Value::Bytes(Bytes::new(500))),
            ],
        },
    ],
    probes: &[
        ProbeSpec { name: "drop_probability", unit: "fraction", help: "Probability of the controller" },
        ProbeSpec { name: "sampled_queue", unit: "packets", help: "Queue at the last update" },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "drops ECT packets beyond mark_threshold",
    build,
};

pub(super) const AVPKT: ParamSpec = ParamSpec::new(
    "avpkt",
    Kind::Bytes,
    Value::Bytes(Bytes::new(1000)),
    (1.0, 1e6),
    "Mean packet, in which bytes are counted",
    "tc-red(8): 1000 is a good value",
);

/// The queue in packets, for the reference `target`.
#[inline]
pub(super) fn in_packets(queue: Backlog, target: Size, avpkt: f64) -> f64 {
    match target {
        Size::Packets(_) => queue.packets as f64,
        Size::Bytes(_) => queue.bytes as f64 / avpkt,
    }
}

/// `target` counted in packets.
pub(super) fn target_in_packets(target: Size, avpkt: f64) -> f64 {
    let count = target.count() as f64;
    if matches!(target, Size::Bytes(_)) { count / avpkt } else { count }
}

struct Settings {
    target: Size,
    avpkt: f64,
    law: Law,
    tupdate: Span,
    early: Early,
}

struct Pi {
    settings: Settings,
    state: Controlled,
}

fn settings(params: &Params) -> Settings {
    let target = params.size("target").expect("target has no auto");
    let avpkt = params.bytes("avpkt").expect("avpkt has no auto").as_u64() as f64;
    let (a, b) = (params.number("a"), params.number("b"));
    Settings {
        target,
        avpkt,
        law: Law { target: target_in_packets(target, avpkt), alpha: a - b, beta: b },
        tupdate: params.span("tupdate"),
        early: Early::new(params),
    }
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params);
    let state = Controlled::new(settings.tupdate);
    Ok(Single::boxed(params, Pi { settings, state }))
}

impl Gate for Pi {
    #[inline]
    fn admit(&mut self, packet: Packet, _queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.settings.early.toss(packet, self.state.probability(), cx)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.settings = settings(params);
        self.state.adopt(self.settings.tupdate, cx.now);
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.state.due())
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        let Settings { target, avpkt, law, tupdate, .. } = &self.settings;
        let waiting = in_packets(queue.backlog(), *target, *avpkt);
        self.state.catch_up(law, *tupdate, waiting, cx.now);
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("drop_probability", self.state.probability());
        sink("sampled_queue", self.state.last());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn the_probability_follows_hollots_equation() {
        let mut host = Host::scripted("pi limit 100p target 2p a 0.03 b 0.02 tupdate 10ms", &[0.99]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        host.wake_until(ms(10)); // 0.03 * (5 - 2) - 0.02 * (0 - 2) = 0.13
        assert!((host.probe("drop_probability") - 0.13).abs() < 1e-12);
        (5..8).for_each(|cookie| host.put(ms(11), cookie, 0, 1000));
        host.wake_until(ms(20)); // + 0.03 * (8 - 2) - 0.02 * (5 - 2) = 0.25
        assert!((host.probe("drop_probability") - 0.25).abs() < 1e-12);
        assert_eq!((host.probe("sampled_queue"), host.dropped().len()), (8.0, 0));
    }

    #[test]
    fn bytes_count_as_mean_packets() {
        let mut host = Host::scripted("pi target 1kb avpkt 512b a 0.03 b 0.02 tupdate 10ms", &[0.99]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 512));
        host.wake_until(ms(10));
        assert!((host.probe("drop_probability") - 0.13).abs() < 1e-12); // as above
    }

    #[test]
    fn packets_are_marked_while_the_probability_is_low_and_dropped_beyond() {
        let fill = |count: u64| {
            let mut host = Host::scripted("pi limit 100p target 1p a 0.1 b 0.1 tupdate 10ms ecn", &[0.21]);
            (0..count).for_each(|cookie| host.put_ect(ms(1), cookie, 0, 1000));
            host.put_ect(ms(11), 100, 0, 1000); // at a probability of count / 10
            (host.marked(), host.dropped())
        };
        assert_eq!(fill(2), (alloc::vec![], alloc::vec![])); // 0.21 is not below 0.2
        assert_eq!(fill(4), (alloc::vec![100], alloc::vec![]));
        assert_eq!(fill(6), (alloc::vec![], alloc::vec![100]));
    }
}
