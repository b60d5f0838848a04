//! # What it does
//! One queue under BLUE: arriving packets are dropped (or marked) with a probability that rises when the queue grows too
//! long or overflows, and falls when the link has nothing to send.
//!
//! # Reference
//! W. Feng, K. Shin, D. Kandlur and D. Saha, "The BLUE Active Queue Management Algorithms" (IEEE/ACM Transactions on
//! Networking 10(4), 2002).
//!
//! # Parameters
//! See `aqmlab aqm show blue`.
//!
//! # Deviations
//! The link counts as idle when it finds the queue empty, once per idle period. At a probability of zero an idle link
//! does not start the freeze time. Beyond `mark_threshold` packets are dropped even if they could be marked (RFC 7567
//! section 4.2.1; the paper always marks). The paper has a threshold L for the queue but gives no value: half of the
//! limit here. The first report (1999), its authors' simulator and the ns-3 model have none: `blue:overflow`.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet that finds space.

use super::early::{self, Early};
use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::law::blue::{Params as Law, State};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::{Size, Span};

/// The registry entry.
pub static INFO: Info = Info {
    name: "blue",
    group: Group::QueueLength,
    summary: "BLUE: a drop probability moved by overflow and by idleness of the link",
    reference: "Feng, Shin, Kandlur and Saha 2002",
    params: &[
        LIMIT,
        ParamSpec::new(
            "threshold",
            Kind::Size,
            Value::Auto,
            (0.0, 1e12),
            "Queue beyond which the probability rises (L)",
            "Feng 2002 section III: without a value",
        )
        .or_auto("half of limit"),
        ParamSpec::new(
            "increment",
            Kind::Fraction,
            Value::Fraction(0.0025),
            (0.0, 1.0),
            "By how much the probability rises (d1)",
            "Feng 2002 section III: 0.0025 or 0.02",
        ),
        ParamSpec::new(
            "decrement",
            Kind::Fraction,
            Value::Fraction(0.00025),
            (0.0, 1.0),
            "By how much the probability falls (d2)",
            "Feng 2002 section III: a tenth of the increment",
        ),
        ParamSpec::new(
            "freeze_time",
            Kind::Span,
            Value::Span(Span::from_millis(100)),
            (0.0, 1e11),
            "Time between two moves of the probability",
            "Feng 2002 section III: 10 ms or 100 ms",
        ),
        early::ECN,
        early::MARK_THRESHOLD,
    ],
    presets: &[
        Preset { name: "feng2002", source: "Feng et al. 2002, the slower of their settings", values: &[] },
        Preset {
            name: "overflow",
            source: "ns-3 model of Tahiliani, Jain and Singh after W. Feng's ns-1.1 code: 100 packets, no L",
            values: &[
                ("limit", Value::Size(Size::Packets(100))),
                ("threshold", Value::Size(Size::Packets(1_000_000_000_000))),
            ],
        },
    ],
    probes: &[ProbeSpec { name: "drop_probability", unit: "fraction", help: "Probability (p_m)" }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        // The probability remains after the queue that raised it is gone.
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "idle when the link finds the queue empty; threshold is half of limit; drops ECT packets beyond mark_threshold",
    build,
};

struct Settings {
    threshold: Size,
    law: Law,
    early: Early,
}

struct Blue {
    settings: Settings,
    state: State,
}

fn settings(params: &Params) -> Settings {
    let limit = params.size("limit").expect("limit has no auto");
    Settings {
        threshold: params.size("threshold").unwrap_or(limit.with_count(limit.count() / 2)),
        law: Law {
            increment: params.number("increment"),
            decrement: params.number("decrement"),
            freeze_time: params.span("freeze_time"),
        },
        early: Early::new(params),
    }
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, Blue { settings: settings(params), state: State::default() }))
}

impl Gate for Blue {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let Settings { threshold, law, early } = &self.settings;
        if queue.backlog().exceeds(*threshold) {
            law.overload(&mut self.state, cx.now);
        }
        early.toss(packet, self.state.probability(), cx)
    }

    fn overflowed(&mut self, _packet: &Packet, cx: &mut Cx<'_>) {
        self.settings.law.overload(&mut self.state, cx.now);
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = queue.pop();
        if packet.is_none() {
            self.settings.law.idle(&mut self.state, cx.now);
        }
        packet
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.settings = settings(params);
        Ok(())
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("drop_probability", self.state.probability());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use crate::signal::DropReason;

    const SMALL: &str = "blue limit 4p threshold 2p increment 0.25 decrement 0.125 freeze_time 10ms ecn";

    #[test]
    fn a_long_queue_and_a_full_one_raise_the_probability() {
        let mut host = Host::scripted(SMALL, &[0.9]);
        (0..3).for_each(|cookie| host.put(ms(20), cookie, 0, 1000));
        assert_eq!(host.probe("drop_probability"), 0.0); // the third found two
        host.put(ms(20), 3, 0, 1000); // finds three
        assert_eq!(host.probe("drop_probability"), 0.25);
        host.put(ms(30), 4, 0, 1000); // full, but frozen
        assert_eq!((host.probe("drop_probability"), host.dropped()), (0.25, alloc::vec![4]));
        host.put(ms(31), 5, 0, 1000);
        assert_eq!(host.probe("drop_probability"), 0.5);
        assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Overlimit));
    }

    #[test]
    fn an_idle_link_lowers_it() {
        let mut host = Host::scripted(SMALL, &[0.9]);
        (0..4).for_each(|cookie| host.put(ms(20), cookie, 0, 1000));
        (0..4).for_each(|_| assert!(host.get(ms(40)).is_some()));
        assert_eq!(host.probe("drop_probability"), 0.25);
        assert_eq!(host.get(ms(41)), None);
        assert_eq!(host.probe("drop_probability"), 0.125);
    }

    #[test]
    fn above_the_threshold_packets_are_dropped_instead_of_marked() {
        let mut host =
            Host::scripted("blue limit 100p threshold 0p increment 0.25 freeze_time 10ms ecn", &[0.2]);
        (0..5).for_each(|cookie| host.put_ect(ms(20 + 11 * cookie), cookie, 0, 1000));
        // From the second packet on p is 0.25, 0.5, 0.75, 1.
        assert_eq!((host.marked(), host.dropped()), (alloc::vec![1, 2], alloc::vec![3, 4]));
        assert_eq!(host.log.dropped[0].1, DropReason::Congestion);
    }
}
