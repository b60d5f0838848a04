//! # What it does
//! One queue under PI2: a proportional integral controller on the delay updates a probability p'; packets of scalable
//! transports are marked with k p', all others dropped (or marked) with its square.
//!
//! # Reference
//! K. De Schepper, O. Bondarenko, I. Tsang and B. Briscoe, "PI2: A Linearized AQM for both Classic and Scalable TCP"
//! (CoNEXT 2016).
//!
//! # Parameters
//! See `aqmlab aqm show pi2`.
//!
//! # Deviations
//! The delay is that of the packet at the head when the probability is updated (the paper's code estimates it from
//! the departure rate, as the first PIE did). No signal while at most two full packets are queued, as in RFC 8033 and
//! Linux `sch_dualpi2` (not mentioned in the paper). Once k p' is 1, the square applies to scalable packets too, and
//! beyond `mark_threshold` packets are dropped instead of marked (required by RFC 9332 section 2.5.1.1; the paper
//! limits the square to 25 % and leaves the rest to a full queue). Scalable are ECT(1) and CE, as in RFC 9331 (the
//! paper: ECT(1)).
//!
//! # Promises
//! Order kept; drops and marks on arrival only; two random numbers per packet at most; updates once per period through
//! wake-ups, at most 16 of them late.

use super::early::{self, Early};
use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::law::{Controlled, Pi as Law};
use crate::packet::{Ecn, Packet};
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, TcNumber, Value};
use crate::queue::Fifo;
use crate::signal::MarkReason;
use crate::units::{Span, Time};

/// The registry entry.
pub static INFO: Info = Info {
    name: "pi2",
    group: Group::Delay,
    summary: "PI2: a linear controller on the delay, squared for classic transports",
    reference: "De Schepper, Bondarenko, Tsang and Briscoe 2016",
    params: &[
        LIMIT,
        ParamSpec::new(
            "target",
            Kind::Span,
            Value::Span(Span::from_millis(20)),
            (1e3, 1e10),
            "Queue delay that the controller aims at",
            "De Schepper 2016 table 1: 20 ms",
        ),
        ParamSpec::new(
            "tupdate",
            Kind::Span,
            Value::Span(Span::from_millis(32)),
            (1e4, 1e10),
            "Period of the controller",
            "De Schepper 2016 table 1: 32 ms",
        ),
        ParamSpec::new(
            "alpha",
            Kind::Frequency,
            Value::Frequency(0.3125),
            (0.0, 1e3),
            "Weight of the distance to the target",
            "De Schepper 2016 table 1: 5/16",
        )
        .tc_counts(TcNumber::Hertz),
        ParamSpec::new(
            "beta",
            Kind::Frequency,
            Value::Frequency(3.125),
            (0.0, 1e3),
            "Weight of the trend of the delay",
            "De Schepper 2016 table 1: 50/16",
        )
        .tc_counts(TcNumber::Hertz),
        ParamSpec::new(
            "coupling",
            Kind::Number,
            Value::Number(2.0),
            (0.0, 16.0),
            "Probability for scalable packets as a multiple of p' (k)",
            "De Schepper 2016 section 5: 2",
        ),
        ParamSpec::flag(
            "scalable",
            true,
            "With ecn, treat ECT(1) and CE as scalable",
            "De Schepper 2016 section 5: on",
        ),
        early::ECN,
        ParamSpec::new(
            "mark_threshold",
            Kind::Fraction,
            Value::Fraction(0.25),
            (0.0, 1.0),
            "Largest square at which packets are marked instead of dropped",
            "De Schepper 2016 section 5: 25 %",
        ),
    ],
    presets: &[Preset {
        name: "deschepper2016",
        source: "De Schepper et al. 2016, table 1 and section 5",
        values: &[],
    }],
    probes: &[
        ProbeSpec { name: "base_probability", unit: "fraction", help: "Probability of the controller (p')" },
        ProbeSpec { name: "drop_probability", unit: "fraction", help: "Its square, for classic packets" },
        ProbeSpec { name: "qdelay", unit: "s", help: "Queue delay at the last update" },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: 0,
    },
    deviations: "delay of the head packet; quiet up to two packets; overload as RFC 9332 has it",
    build,
};

struct Settings {
    law: Law,
    tupdate: Span,
    coupling: f64,
    scalable: bool,
    early: Early,
}

struct Pi2 {
    settings: Settings,
    state: Controlled,
    quiet_bytes: u64,
}

fn settings(params: &Params) -> Settings {
    Settings {
        law: Law {
            target: params.span("target").as_secs_f64(),
            alpha: params.number("alpha"),
            beta: params.number("beta"),
        },
        tupdate: params.span("tupdate"),
        coupling: params.number("coupling"),
        scalable: params.flag("scalable"),
        early: Early::new(params),
    }
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params);
    let state = Controlled::new(settings.tupdate);
    Ok(Single::boxed(params, Pi2 { settings, state, quiet_bytes: 2 * u64::from(link.mtu) }))
}

impl Gate for Pi2 {
    /// Section 5: one random number for scalable packets, two for classic ones.
    #[inline]
    fn admit(&mut self, mut packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let Settings { coupling, scalable, early, .. } = &self.settings;
        let p = self.state.probability();
        if p == 0.0 || queue.backlog().bytes <= self.quiet_bytes {
            return Some(packet);
        }
        if *scalable && early.ecn && matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) {
            let linear = coupling * p;
            if linear < 1.0 {
                if cx.uniform() < linear {
                    cx.mark(&mut packet, MarkReason::Congestion);
                }
                return Some(packet);
            }
            // Marks have saturated.
            cx.mark(&mut packet, MarkReason::Congestion);
        }
        // Both random numbers are below p': the probability is p' squared.
        if cx.uniform() < p && cx.uniform() < p { early.hit(packet, p * p, cx) } else { Some(packet) }
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
        let delay = queue.head().map_or(0.0, |packet| cx.now.since(packet.arrival).as_secs_f64());
        self.state.catch_up(&self.settings.law, self.settings.tupdate, delay, cx.now);
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        let p = self.state.probability();
        sink("base_probability", p);
        sink("drop_probability", p * p);
        sink("qdelay", self.state.last());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use crate::signal::DropReason;

    /// Four packets are queued since 0 ms; at 100 ms p' is 3 * 0.1 (alpha 0, beta 3) times `beta` / 3.
    fn standing(beta: u32, ecn: &str, uniforms: &[f64]) -> Host {
        let spec = alloc::format!("pi2 tupdate 100ms alpha 0 beta {beta} {ecn}");
        let mut host = Host::scripted(&spec, uniforms);
        (0..4).for_each(|cookie| host.put(ms(0), cookie, 0, 1514));
        host.wake_until(ms(100));
        assert!((host.probe("base_probability") - f64::from(beta) / 10.0).abs() < 1e-12);
        host
    }

    fn put(host: &mut Host, cookie: u64, ecn: Ecn) {
        let mut packet = Packet::new(cookie, 0, 1514);
        packet.ecn = ecn;
        host.enqueue(ms(101), packet);
    }

    #[test]
    fn the_controller_weighs_distance_and_trend() {
        let mut host = Host::scripted("pi2", &[0.99]);
        (0..4).for_each(|cookie| host.put(ms(0), cookie, 0, 1514));
        host.wake_until(ms(32)); // 0.3125 * 12 ms + 3.125 * 32 ms = 0.10375
        assert!((host.probe("base_probability") - 0.10375).abs() < 1e-12);
        host.wake_until(ms(64)); // + 0.3125 * 44 ms + 3.125 * 32 ms = 0.2175
        assert!((host.probe("base_probability") - 0.2175).abs() < 1e-12);
        assert!((host.probe("drop_probability") - 0.2175 * 0.2175).abs() < 1e-12);
        assert_eq!(host.probe("qdelay"), 0.064);
    }

    #[test]
    fn classic_packets_are_dropped_if_two_random_numbers_are_below_p() {
        // p' = 0.3. The first packet draws 0.2 and 0.4, the second 0.4, the third 0.2 and 0.2.
        let mut host = standing(3, "ecn", &[0.2, 0.4, 0.4, 0.2, 0.2]);
        (10..13).for_each(|cookie| put(&mut host, cookie, Ecn::NotEct));
        assert_eq!(host.log.dropped, [(12, DropReason::Congestion)]);
        let mut host = standing(3, "ecn", &[0.2]);
        put(&mut host, 10, Ecn::Ect0);
        assert_eq!((host.marked(), host.dropped().len()), (alloc::vec![10], 0));
    }

    #[test]
    fn scalable_packets_are_marked_with_twice_the_root() {
        // k p' = 0.6.
        let mut host = standing(3, "ecn", &[0.59, 0.61]);
        put(&mut host, 10, Ecn::Ect1);
        put(&mut host, 11, Ecn::Ect1);
        assert_eq!(host.marked(), [10]);
        // Without `scalable` the same random numbers, 0.59 and 0.61, are above p'.
        let mut host = standing(3, "ecn noscalable", &[0.59, 0.61]);
        put(&mut host, 10, Ecn::Ect1);
        assert_eq!(host.marked().len(), 0);
    }

    #[test]
    fn overload_causes_drops() {
        // p' = 0.6: the square is 0.36, more than a quarter, and k p' more than 1.
        let mut host = standing(6, "ecn", &[0.5]);
        put(&mut host, 10, Ecn::Ect0);
        put(&mut host, 11, Ecn::Ect1);
        assert_eq!((host.marked(), host.dropped()), (alloc::vec![11], alloc::vec![10, 11]));
        let mut host = standing(6, "ecn", &[0.7]);
        put(&mut host, 10, Ecn::Ect1);
        assert_eq!((host.marked(), host.dropped().len()), (alloc::vec![10], 0));
    }

    #[test]
    fn two_queued_packets_cause_no_signal() {
        let mut host = standing(6, "", &[0.0]);
        host.get(ms(100));
        host.get(ms(100));
        put(&mut host, 10, Ecn::NotEct); // finds two
        put(&mut host, 11, Ecn::NotEct);
        assert_eq!(host.dropped(), [11]);
    }
}
