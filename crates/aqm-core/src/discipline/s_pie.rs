//! # What it does
//! One queue under PIE and a sketch that counts the packets of each flow: while the delay is low, arriving packets are
//! dropped with PIE's probability; while it is not, those of flows with more than their share are dropped.
//!
//! # Reference
//! H. Zhu et al., "A Sketch-Based Fine-Grained Proportional Integral Queue Management Method", Axioms 12(9):814 (2023):
//! algorithm 2, eqs. 3 to 9.
//!
//! # Parameters
//! See `aqmlab aqm show s-pie`. What the paper leaves open or contradicts is a parameter: `rule` (text and algorithm
//! compare the other way round), `small_flows_use_p`, `guard`, `clear_period`, the sketch's size.
//!
//! # Deviations
//! Eq. 3 weighs the last delay, its text the current one, as PIE does: the current one. Eq. 9 is the packet-weighted
//! mean share, kept as a running sum. A packet is counted when it is accepted (algorithm 2), not when it leaves. An
//! equal share passes, as does every packet while nothing is counted. The burst allowance holds back PIE's
//! probability, not the share rule. Counting starts anew at whole multiples of `clear_period`. No ECN: the paper has
//! none.
//!
//! # Promises
//! Order kept; drops on arrival only; with `guard`, no drop while at most two packets wait; memory fixed by the sketch,
//! whatever the number of flows. Random numbers: one per packet that PIE's probability is applied to.

use super::pie::{self, ALPHA, BETA, DQ_THRESHOLD, DQ_WEIGHT, MAX_BURST, PROBES, TARGET, TUPDATE};
use super::single::{Gate, Single};
use super::{Built, Group, Info, LIMIT, Link, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::law::Shares;
use crate::law::pie::{Params as Law, Seen, State};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::sketch::{CountMin, Sketch};
use crate::units::{Bytes, Size, Span, Time};
use core::cmp::Ordering;

/// The registry entry.
pub static INFO: Info = Info {
    name: "s-pie",
    group: Group::Flow,
    summary: "PIE with a sketch: under congestion, drops the flows with more than their share",
    reference: "Zhu et al., Axioms 12(9):814 (2023)",
    params: &[
        LIMIT,
        TARGET,
        TUPDATE,
        ALPHA,
        BETA,
        MAX_BURST,
        DQ_THRESHOLD,
        DQ_WEIGHT,
        ParamSpec::choice(
            "rule",
            &["text", "algorithm2"],
            "Drop flows above the mean share (as the text says) or below it (as algorithm 2 prints)",
            "Zhu et al. section 3.2",
        ),
        ParamSpec::flag(
            "small_flows_use_p",
            false,
            "Apply PIE's probability to the other flows under congestion as well",
            "Zhu et al. algorithm 2: off",
        ),
        ParamSpec::flag(
            "guard",
            true,
            "Drop nothing while at most two packets wait",
            "ns-3.27 PIE: on; Zhu et al.: not said",
        ),
        ParamSpec::new(
            "clear_period",
            Kind::Span,
            Value::Span(Span::from_secs(1)),
            (1e6, 1e14),
            "How long packets are counted before counting starts anew",
            "Zhu et al. algorithm 1: T_threshold, without a value",
        ),
        ParamSpec::new(
            "width",
            Kind::Count,
            Value::Count(1024),
            (1.0, 65_536.0),
            "Counters per row of the sketch",
            "Zhu et al.: without a value",
        ),
        ParamSpec::new(
            "depth",
            Kind::Count,
            Value::Count(4),
            (1.0, 8.0),
            "Rows of the sketch",
            "Zhu et al.: without a value",
        ),
    ],
    presets: &[
        Preset {
            name: "printed",
            source: "Zhu et al. 2023 over PIE as ns-3.27 has it (reference delay 20 ms)",
            values: &[
                ("target", Value::Span(Span::from_millis(20))),
                ("tupdate", Value::Span(Span::from_millis(30))),
                ("max_burst", Value::Span(Span::from_millis(100))),
                ("dq_threshold", Value::Bytes(Bytes::new(10_000))),
                ("dq_weight", Value::Fraction(0.5)),
            ],
        },
        Preset {
            name: "consistent",
            source: "as printed, with a reference delay that a queue of 50 packets at 50 Mbit/s can reach",
            values: &[
                ("target", Value::Span(Span::from_millis(5))),
                ("tupdate", Value::Span(Span::from_millis(30))),
                ("max_burst", Value::Span(Span::from_millis(100))),
                ("dq_threshold", Value::Bytes(Bytes::new(10_000))),
                ("dq_weight", Value::Fraction(0.5)),
            ],
        },
    ],
    probes: &[
        PROBES[0],
        PROBES[1],
        PROBES[2],
        ProbeSpec { name: "share_threshold", unit: "fraction", help: "Packet-weighted mean share of a flow" },
        ProbeSpec { name: "counted", unit: "packets", help: "Packets in the sketch" },
    ],
    traits: Traits {
        wakes: true,
        ecn: false,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 2,
        flow_state_bytes: 0,
    },
    deviations: "eq. 3 with the current delay; eq. 9 as a running sum; counted when accepted; the burst allowance does not hold back the share rule",
    build,
};

struct Settings {
    limit: Size,
    law: Law,
    /// How a share that is dropped stands to the threshold.
    unfair: Ordering,
    small_flows_use_p: bool,
    guard: bool,
    clear_period: Span,
}

struct SPie<S> {
    settings: Settings,
    state: State,
    sketch: S,
    shares: Shares,
    clear_at: Time,
    link: Link,
}

fn settings(params: &Params, link: &Link) -> Settings {
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        law: pie::controller(params, link),
        unfair: if params.choice("rule") == "text" { Ordering::Greater } else { Ordering::Less },
        small_flows_use_p: params.flag("small_flows_use_p"),
        guard: params.flag("guard"),
        clear_period: params.span("clear_period"),
    }
}

fn sketch(params: &Params) -> CountMin {
    CountMin::new(params.count("width") as u32, params.count("depth") as u32)
}

fn build(params: &Params, link: &Link) -> Built {
    let settings = settings(params, link);
    let gate = SPie {
        state: settings.law.start(),
        clear_at: Time::ZERO + settings.clear_period,
        settings,
        sketch: sketch(params),
        shares: Shares::default(),
        link: *link,
    };
    Ok(Single::boxed(params, gate))
}

impl<S: Sketch> SPie<S> {
    /// Algorithm 2 from line 4 on: why `packet` is dropped, if it is.
    #[inline]
    fn decide(&mut self, packet: &Packet, seen: Seen, cx: &mut Cx<'_>) -> Option<DropReason> {
        let Settings { law, unfair, small_flows_use_p, guard, .. } = &self.settings;
        law.protect(&mut self.state);
        if *guard && law.short(seen) {
            return None;
        }
        let congested = self.state.qdelay() >= law.pi.target / 3.0;
        if congested && self.shares.compare(self.sketch.query(packet.flow)) == *unfair {
            return Some(DropReason::Unfair);
        }
        let chance = !congested || *small_flows_use_p;
        let hit = chance && law.toss(&self.state, packet.length, || cx.uniform());
        hit.then_some(DropReason::Congestion)
    }

    /// Starts counting anew at the latest multiple of the period.
    #[cold]
    fn clear(&mut self, now: Time) {
        self.sketch.clear();
        self.shares = Shares::default();
        let period = self.settings.clear_period.as_nanos();
        self.clear_at = Time::from_nanos((now.as_nanos() / period + 1).saturating_mul(period));
    }
}

impl Gate for SPie<CountMin> {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        if cx.now >= self.clear_at {
            self.clear(cx.now);
        }
        if let Some(reason) = self.decide(&packet, pie::seen(queue.backlog(), self.settings.limit), cx) {
            cx.drop(packet, reason);
            return None;
        }
        let before = self.sketch.add(packet.flow, 1);
        self.shares.add(before, 1);
        Some(packet)
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = queue.pop()?;
        self.settings.law.depart(&mut self.state, &packet, queue.backlog().bytes, cx.now);
        Some(packet)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let (before, period) = (self.settings.law, self.settings.clear_period);
        self.settings = settings(params, &self.link);
        self.settings.law.adopt(&mut self.state, &before, cx.now);
        let fresh = sketch(params);
        if fresh.size() != self.sketch.size() {
            self.sketch = fresh;
            self.clear(cx.now);
        } else if period != self.settings.clear_period {
            self.clear(cx.now);
        }
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        self.settings.law.due(&self.state)
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        self.settings.law.catch_up(&mut self.state, queue.backlog().bytes, cx.now);
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        pie::probe(&self.state, sink);
        sink("share_threshold", self.shares.threshold());
        sink("counted", self.shares.count() as f64);
    }

    fn table_bytes(&self) -> usize {
        self.sketch.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;

    /// A queue that has stood at 60 packets of 1000 bytes for 500 ms, one leaving per millisecond: a delay of some
    /// 60 ms. Flow 1 sends three packets of four, flow 2 the fourth.
    fn congested(spec: &str) -> Host {
        let mut host = Host::new(spec);
        let flow = |cookie: u64| if cookie.is_multiple_of(4) { 2 } else { 1 };
        (0..60).for_each(|cookie| host.put(ms(0), cookie, flow(cookie), 1000));
        let mut cookie = 60;
        for at in 1..500 {
            host.get(ms(at));
            while host.qdisc.backlog().packets < 60 && cookie < 4000 {
                host.put(ms(at), cookie, flow(cookie), 1000);
                cookie += 1;
            }
        }
        assert!(host.probe("qdelay") > 0.02, "{}", host.probe("qdelay"));
        host
    }

    #[test]
    fn under_congestion_the_flow_with_more_than_its_share_is_dropped() {
        let host = congested("s-pie limit 100p");
        let unfair: alloc::vec::Vec<_> =
            host.log.dropped.iter().filter(|(_, reason)| *reason == DropReason::Unfair).collect();
        assert!(unfair.len() > 100, "{}", unfair.len());
        // Flow 2 is hit only after flow 1's losses have made it the larger one.
        let large = unfair.iter().filter(|(cookie, _)| cookie % 4 != 0).count();
        assert!(large * 10 > unfair.len() * 9, "{large} of {}", unfair.len());
    }

    #[test]
    fn algorithm_2_as_printed_drops_the_other_flow() {
        let host = congested("s-pie limit 100p rule algorithm2");
        let unfair = host.log.dropped.iter().filter(|(_, reason)| *reason == DropReason::Unfair);
        assert!(unfair.clone().count() > 10);
        assert!(unfair.clone().all(|(cookie, _)| cookie % 4 == 0));
    }

    #[test]
    fn accepted_packets_are_counted_until_the_period_ends() {
        let mut host = Host::new("s-pie limit 3p clear_period 10ms");
        (0..4).for_each(|cookie| host.put(ms(1), cookie, cookie % 2, 1000));
        assert_eq!(host.log.dropped, [(3, DropReason::Overlimit)]);
        // Flow 0 has two packets, flow 1 one: (4 + 1) / 9.
        assert_eq!((host.probe("counted"), host.probe("share_threshold")), (3.0, 5.0 / 9.0));
        host.get(ms(2));
        host.put(ms(9), 4, 1, 1000);
        assert_eq!(host.probe("counted"), 4.0);
        host.get(ms(9));
        host.put(ms(10), 5, 1, 1000);
        assert_eq!((host.probe("counted"), host.probe("share_threshold")), (1.0, 1.0));
    }

    #[test]
    fn without_congestion_no_share_is_too_large() {
        let mut host = Host::new("s-pie limit 100p");
        for at in 0..1000 {
            (0..3).for_each(|_| host.put(ms(at), at, 1, 1000));
            (0..3).for_each(|_| assert_eq!(host.get(ms(at)), Some(at)));
        }
        assert_eq!(host.dropped().len(), 0);
    }

    #[test]
    fn two_packets_may_always_wait_unless_the_guard_is_off() {
        // The delay of the last period stays in force until the next one, 30 ms later.
        let after = |spec: &str| {
            let mut host = congested(spec);
            let at = ms(500);
            while host.get(at).is_some() {}
            let before = host.dropped().len();
            (9000..9003).for_each(|n| host.put(at, 4 * n + 1, 1, 1000));
            host.dropped().len() - before
        };
        assert_eq!(after("s-pie limit 100p clear_period 100s"), 0);
        assert!(after("s-pie limit 100p clear_period 100s noguard") > 0);
    }
}
