//! # What it does
//! One queue under Random Exponential Marking: once per period, a price adds up the excess of arrivals over the
//! link's capacity and of the queue over its target; arriving packets are dropped (or marked) with a probability that
//! is exponential in the price.
//!
//! # Reference
//! S. Athuraliya, S. Low, V. Li and Q. Yin, "REM: Active Queue Management" (IEEE Network 15(3), 2001).
//!
//! # Parameters
//! See `aqmlab aqm show rem`.
//!
//! # Deviations
//! The rate is that of all arrivals in the last period, including dropped packets, without a filter (as ns-2 has it
//! with its input weight of 1). Beyond `mark_threshold` packets are dropped even if they could be marked (RFC 7567
//! section 4.2.1; the paper always marks). The paper's text was not available: values are those of ns-2 and of its
//! port to ns-3.
//!
//! # Promises
//! Order kept; drops and marks on arrival only; one random number per packet that finds space; updates once per
//! period through wake-ups, at most 16 of them late.

use super::early::{self, Early};
use super::pi::{AVPKT, in_packets, target_in_packets};
use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::law::Periodic;
use crate::law::exponential::ln;
use crate::law::rem::{Params as Law, State};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::{Size, Span, Time};

/// The registry entry.
pub static INFO: Info = Info {
    name: "rem",
    group: Group::QueueLength,
    summary: "Random Exponential Marking: a price of rate and queue mismatch",
    reference: "Athuraliya, Low, Li and Yin 2001",
    params: &[
        LIMIT,
        ParamSpec::new(
            "target",
            Kind::Size,
            Value::Size(Size::Packets(20)),
            (0.0, 1e12),
            "Queue that the price aims at (b*)",
            "Athuraliya 2001: 20 packets",
        ),
        ParamSpec::new(
            "gamma",
            Kind::Number,
            Value::Number(0.001),
            (0.0, 1e3),
            "Step of the price",
            "Athuraliya 2001: 0.001",
        ),
        ParamSpec::new(
            "alpha",
            Kind::Number,
            Value::Number(0.1),
            (0.0, 1e3),
            "Weight of the queue against the rate",
            "Athuraliya 2001: 0.1",
        ),
        ParamSpec::new(
            "phi",
            Kind::Number,
            Value::Number(1.001),
            (1.000_000_1, 1e6),
            "Base of the exponential: the probability is 1 - phi^-price",
            "Athuraliya 2001: 1.001",
        ),
        ParamSpec::new(
            "tupdate",
            Kind::Span,
            Value::Span(Span::from_millis(2)),
            (1e4, 1e10),
            "Time between two updates of the price",
            "ns-3 port of ns-2's rem.cc: 2 ms",
        ),
        AVPKT,
        ParamSpec::new(
            "bandwidth",
            Kind::Rate,
            Value::Auto,
            (1.0, 1e15),
            "Rate that the arrivals are compared with",
            "Athuraliya 2001: the link's capacity",
        )
        .or_auto("the link's rate"),
        early::ECN,
        early::MARK_THRESHOLD,
    ],
    presets: &[Preset {
        name: "athuraliya2001",
        source: "Athuraliya et al. 2001, via ns-2's values",
        values: &[],
    }],
    probes: &[
        ProbeSpec { name: "drop_probability", unit: "fraction", help: "Probability" },
        ProbeSpec { name: "price", unit: "packets", help: "Weighted sum of the mismatches" },
    ],
    traits: Traits {
        wakes: true,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        // The price remains after the queue that raised it is gone.
        quiet_packets: 0,
        flow_state_bytes: 0,
    },
    deviations: "the rate is that of the last period; drops ECT packets beyond mark_threshold",
    build,
};

struct Settings {
    target: Size,
    avpkt: f64,
    law: Law,
    tupdate: Span,
    early: Early,
}

struct Rem {
    settings: Settings,
    state: State,
    timer: Periodic,
    /// Arrivals since the last update, dropped or not.
    arrived: Backlog,
    link: Link,
}

fn settings(params: &Params, link: &Link) -> Settings {
    let target = params.size("target").expect("target has no auto");
    let avpkt = params.bytes("avpkt").expect("avpkt has no auto").as_u64() as f64;
    let tupdate = params.span("tupdate");
    let rate = params.rate("bandwidth").unwrap_or(link.rate).as_bits_per_sec() as f64;
    Settings {
        target,
        avpkt,
        law: Law {
            gamma: params.number("gamma"),
            alpha: params.number("alpha"),
            ln_phi: ln(params.number("phi")),
            target: target_in_packets(target, avpkt),
            capacity: rate * tupdate.as_secs_f64() / (8.0 * avpkt),
        },
        tupdate,
        early: Early::new(params),
    }
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params, link);
    let timer = Periodic::new(settings.tupdate);
    let (state, arrived) = (State::default(), Backlog::default());
    Ok(Single::boxed(params, Rem { settings, state, timer, arrived, link: *link }))
}

impl Gate for Rem {
    #[inline]
    fn admit(&mut self, packet: Packet, _queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.arrived.add(&packet);
        self.settings.early.toss(packet, self.state.probability(), cx)
    }

    #[inline]
    fn overflowed(&mut self, packet: &Packet, _cx: &mut Cx<'_>) {
        self.arrived.add(packet);
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        self.settings = settings(params, &self.link);
        self.timer.adopt(self.settings.tupdate, cx.now);
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.timer.due())
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        let Rem { settings: Settings { target, avpkt, law, tupdate, .. }, state, timer, arrived, .. } = self;
        let waiting = in_packets(queue.backlog(), *target, *avpkt);
        timer.catch_up(*tupdate, cx.now, || {
            let came = in_packets(core::mem::take(arrived), *target, *avpkt);
            law.update(state, came, waiting);
        });
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("drop_probability", self.state.probability());
        sink("price", self.state.price());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn the_price_counts_arrivals_and_the_queue() {
        // 10 Mbit/s carry 1.25 packets of 1000 bytes in a millisecond, 12.5 in ten.
        let mut host =
            Host::scripted("rem limit 30p target 10p gamma 0.1 alpha 0.5 phi 2 tupdate 10ms", &[0.999]);
        (0..20).for_each(|cookie| host.put(ms(1), cookie, 0, 1000));
        host.wake_until(ms(10)); // 0.1 * (0.5 * 10 + 20 - 12.5) = 1.25
        assert!((host.probe("price") - 1.25).abs() < 1e-12);
        assert!((host.probe("drop_probability") - 0.579_551_792_373_733).abs() < 1e-12); // 1 - 2^-1.25
        host.wake_until(ms(20)); // + 0.1 * (0.5 * 10 + 0 - 12.5) = 0.5
        assert!((host.probe("price") - 0.5).abs() < 1e-12);
        (20..35).for_each(|cookie| host.put(ms(21), cookie, 0, 1000)); // five find no room, but came
        host.wake_until(ms(30)); // + 0.1 * (0.5 * 20 + 15 - 12.5) = 1.75
        assert!((host.probe("price") - 1.75).abs() < 1e-12);
        assert_eq!(host.dropped(), [30, 31, 32, 33, 34]);
    }

    #[test]
    fn bytes_count_as_mean_packets() {
        let spec = "rem target 5120b avpkt 512b gamma 0.1 alpha 0.5 tupdate 10ms bandwidth 5120kbit";
        let mut host = Host::scripted(spec, &[0.999]);
        (0..20).for_each(|cookie| host.put(ms(1), cookie, 0, 512));
        host.wake_until(ms(10)); // 5.12 Mbit/s carry 12.5 packets of 512 bytes
        assert!((host.probe("price") - 1.25).abs() < 1e-12);
    }
}
