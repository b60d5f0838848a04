//! # What it does
//! PIE as DOCSIS cable modems run it: the delay is predicted from the rates of the service flow, longer packets are
//! dropped more often, and a burst is protected once it has had its first drop.
//!
//! # Reference
//! RFC 8034: section 4, appendix A; DOCSIS 3.1 MULPI annex M. Where the RFC's text was not available, CableLabs'
//! own model of it was read (docsis-ns3, `dual-queue-coupled-aqm.cc`, `cm-net-device.cc`): its constants, order of
//! steps and burst states are these.
//!
//! # Parameters
//! See `aqmlab aqm show docsis_pie`. `alpha` and `beta` are A and B. `rate`, `peak_rate` and `traffic_burst` are the
//! operator's settings; they are used to predict the delay, and shape nothing.
//!
//! # Deviations
//! The RFC takes the credit of the sustained rate from the modem's shaper; here departures use it up. Bytes already
//! granted to the modem by its head end are not counted as queued. Probabilities are real numbers for every length
//! (the RFC allows a modem to round lengths). With `limit` in packets, a third of it is counted in packets.
//!
//! # Promises
//! Order kept; drops on arrival only, never marks; no signal while at most 2048 bytes are queued, nor before a third
//! of the limit was once used; updates once per period through wake-ups, at most 16 of them late.

use super::pie::seen;
use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits, pie};
use crate::cx::Cx;
use crate::law::Pi;
use crate::law::docsis_pie::{Params as Law, ServiceFlow, State};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::units::{Bytes, Rate, Size, Span, Time};

/// The registry entry.
pub static INFO: Info = Info {
    name: "docsis_pie",
    group: Group::Delay,
    summary: "PIE as cable modems run it: delay predicted from the rates of the service flow",
    reference: "RFC 8034",
    params: &[
        LIMIT,
        pie::TARGET
            .with_default(Value::Span(Span::from_millis(10)), "RFC 8034 appendix A (LATENCY_TARGET): 10 ms"),
        pie::TUPDATE
            .with_default(Value::Span(Span::from_millis(16)), "RFC 8034 appendix A (INTERVAL): 16 ms"),
        pie::ALPHA.with_default(Value::Frequency(0.25), "RFC 8034 appendix A (A): 0.25"),
        pie::BETA.with_default(Value::Frequency(2.5), "RFC 8034 appendix A (B): 2.5"),
        pie::MAX_BURST
            .with_default(Value::Span(Span::from_millis(142)), "RFC 8034 appendix A (MAX_BURST): 142 ms"),
        ParamSpec::new(
            "rate",
            Kind::Rate,
            Value::Auto,
            (1.0, 1e15),
            "Maximum sustained traffic rate of the service flow",
            "RFC 8034 appendix A (MSR): configured",
        )
        .or_auto("the link's rate"),
        ParamSpec::new(
            "peak_rate",
            Kind::Rate,
            Value::Auto,
            (1.0, 1e15),
            "Rate at which saved-up credit may be used",
            "RFC 8034 appendix A (PEAK_RATE): configured",
        )
        .or_auto("the sustained rate"),
        ParamSpec::new(
            "traffic_burst",
            Kind::Bytes,
            Value::Bytes(Bytes::new(3044)),
            (0.0, 1e12),
            "Most credit that the sustained rate saves up",
            "DOCSIS MULPI, Maximum Traffic Burst: 3044 bytes",
        ),
    ],
    presets: &[Preset {
        name: "rfc8034",
        source: "RFC 8034 appendix A, via CableLabs' docsis-ns3 (behaviour and constants)",
        values: &[],
    }],
    probes: &[
        ProbeSpec {
            name: "drop_probability",
            unit: "fraction",
            help: "Probability for a packet of 1024 bytes; shorter ones have less, so it may exceed one",
        },
        ProbeSpec { name: "qdelay", unit: "s", help: "Queue delay predicted at the last update" },
        ProbeSpec { name: "burst_allowance", unit: "s", help: "Rest of the burst allowance" },
    ],
    traits: Traits {
        wakes: true,
        ecn: false,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: 0,
    },
    deviations: "departures use up the credit that the modem's shaper counts; grants are not modelled; no rounding of lengths",
    build,
};

struct DocsisPie {
    limit: Size,
    law: Law,
    state: State,
    link: Link,
}

fn law(params: &Params, link: &Link) -> Law {
    let bytes_per_sec = |rate: Rate| rate.as_bits_per_sec() as f64 / 8.0;
    let sustained = params.rate("rate").unwrap_or(link.rate);
    Law {
        pi: Pi {
            target: params.span("target").as_secs_f64(),
            alpha: params.number("alpha"),
            beta: params.number("beta"),
        },
        tupdate: params.span("tupdate"),
        max_burst: params.span("max_burst"),
        service: ServiceFlow {
            sustained: bytes_per_sec(sustained),
            peak: bytes_per_sec(params.rate("peak_rate").unwrap_or(sustained)),
            burst: params.bytes("traffic_burst").expect("traffic_burst has no auto").as_u64() as f64,
        },
    }
}

fn limit(params: &Params) -> Size {
    params.size("limit").expect("limit has no auto")
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let law = law(params, link);
    Ok(Single::boxed(params, DocsisPie { limit: limit(params), law, state: law.start(), link: *link }))
}

impl Gate for DocsisPie {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let seen = seen(queue.backlog(), self.limit);
        if self.law.drops(&mut self.state, seen, packet.length, || cx.uniform()) {
            cx.drop(packet, DropReason::Congestion);
            return None;
        }
        Some(packet)
    }

    fn overflowed(&mut self, _packet: &Packet, _cx: &mut Cx<'_>) {
        self.state.overflowed();
    }

    #[inline]
    fn release(&mut self, queue: &mut Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = queue.pop()?;
        self.law.depart(&mut self.state, packet.length, cx.now);
        Some(packet)
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        (self.limit, self.law) = (limit(params), law(params, &self.link));
        self.law.adopt(&mut self.state, cx.now);
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.state.due())
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        self.law.catch_up(&mut self.state, queue.backlog().bytes, cx.now);
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("drop_probability", self.state.drop_prob());
        sink("qdelay", self.state.qdelay());
        sink("burst_allowance", self.state.burst_allowance().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn a_standing_queue_meets_a_rising_probability_but_never_a_mark() {
        let mut host = Host::new("docsis_pie limit 200p");
        for round in 0..3000 {
            host.put_ect(ms(round), 2 * round, 0, 1000);
            host.put(ms(round), 2 * round + 1, 0, 1000);
            host.get(ms(round));
        }
        assert!(host.probe("drop_probability") > 0.2);
        assert!(host.qdisc.counters().dropped_early() > 500);
        assert_eq!(host.marked().len(), 0);
    }

    #[test]
    fn the_delay_follows_from_the_backlog_and_the_rates() {
        // 10 Mbit/s: 1250 bytes in 1 ms. 3044 bytes of credit at twice the rate.
        let mut host = Host::new("docsis_pie peak_rate 20mbit");
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1250));
        host.wake_until(ms(16));
        let expected = (3044.0 / 2500.0 + (6250.0 - 3044.0) / 1250.0) * 1e-3;
        assert!((host.probe("qdelay") - expected).abs() < 1e-12);
        let mut host = Host::new("docsis_pie rate 5mbit");
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 0, 1250));
        host.wake_until(ms(16));
        assert!((host.probe("qdelay") - 0.01).abs() < 1e-12);
    }

    #[test]
    fn parameters_can_change_on_the_way() {
        let mut host = Host::new("docsis_pie limit 30p");
        (0..10).for_each(|cookie| host.put(ms(3), cookie, 0, 1000));
        host.qdisc.change(&[("limit", "8p"), ("tupdate", "5ms")], ms(4), &mut host.log).unwrap();
        assert_eq!(host.dropped(), [9, 8]);
        assert_eq!(host.qdisc.next_wakeup(), Some(ms(9)));
    }
}
