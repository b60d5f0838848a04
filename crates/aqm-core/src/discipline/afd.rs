//! # What it does
//! One queue that drops arriving packets so that no flow gets more than its fair share. A sample of recent arrivals
//! estimates how much each flow sends, and the share is adjusted until the queue settles at a target.
//!
//! # Reference
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate Fairness through Differential Dropping" (CCR 33(2),
//! 2003).
//!
//! # Parameters
//! See `aqmlab aqm show afd`.
//!
//! # Deviations
//! Samples count packets, not bytes. The flow table counts by hash: flows with the same entry count as one. m_fair
//! stays between zero and the size of the shadow buffer, and starts there: a larger value would change nothing but
//! take time to fall. A packet that finds the queue empty always passes. The paper was not available: its equations
//! and gains are as cited by two implementations (a P4 program and L. Xue's Linux module); target, sizes and sampling
//! are ours.
//!
//! # Promises
//! Order kept; drops on arrival only; up to three random numbers per packet: whether it is sampled, which sample it
//! replaces, and, unless the queue is empty, whether it is dropped; updates once per period through wake-ups, at most
//! 16 of them late; never marks.

use super::single::{Gate, Single};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::law::Pi;
use crate::law::afd::Shadow;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::signal::DropReason;
use crate::units::{Span, Time};

/// The registry entry.
pub static INFO: Info = Info {
    name: "afd",
    group: Group::Flow,
    summary: "Approximate fair dropping: flows are dropped down to a share by a sample of arrivals",
    reference: "Pan, Breslau, Prabhakar and Shenker 2003",
    params: &[
        LIMIT,
        ParamSpec::new(
            "target",
            Kind::Count,
            Value::Count(50),
            (1.0, 1e6),
            "Packets in the queue that the share aims at (q_target)",
            "ours",
        ),
        ParamSpec::new(
            "a",
            Kind::Number,
            Value::Number(1.7),
            (0.0, 100.0),
            "Weight of the queue a period ago",
            "Pan 2003 as cited by its implementations: 1.7",
        ),
        ParamSpec::new(
            "b",
            Kind::Number,
            Value::Number(1.8),
            (0.0, 100.0),
            "Weight of the queue now, larger than a",
            "Pan 2003 as cited by its implementations: 1.8",
        ),
        ParamSpec::new(
            "tupdate",
            Kind::Span,
            Value::Span(Span::from_micros(6250)),
            (1e4, 1e10),
            "Period of the share's update",
            "Pan 2003 as cited by its implementations: 160 times a second",
        ),
        ParamSpec::new(
            "shadow",
            Kind::Count,
            Value::Count(500),
            (1.0, 65_536.0),
            "Samples in the shadow buffer",
            "ours; implementations have 200 to 2000",
        ),
        ParamSpec::new(
            "sample",
            Kind::Count,
            Value::Count(5),
            (1.0, 1e6),
            "One packet in so many is sampled",
            "ours; the P4 program has 5",
        ),
        ParamSpec::new(
            "flows",
            Kind::Count,
            Value::Count(4096),
            (1.0, 65_536.0),
            "Entries of the flow table",
            "ours: some for each sample, so that few flows meet",
        ),
    ],
    presets: &[Preset {
        name: "pan2003",
        source: "Pan 2003, equations and gains; sizes and target are ours",
        values: &[],
    }],
    probes: &[
        ProbeSpec { name: "fair_count", unit: "packets", help: "Samples that a flow may have (m_fair)" },
        ProbeSpec { name: "largest_count", unit: "packets", help: "Samples of the largest flow" },
    ],
    traits: Traits {
        wakes: true,
        ecn: false,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 0,
        flow_state_bytes: size_of::<u32>(),
    },
    deviations: "counts packets, by hash; m_fair bounded by the shadow buffer; never drops a packet that finds the queue empty",
    build,
};

struct Settings {
    law: Pi,
    tupdate: Span,
    sample: u64,
}

struct Afd {
    settings: Settings,
    shadow: Shadow,
}

fn settings(params: &Params) -> Result<Settings, ParamError> {
    let (a, b) = (params.number("a"), params.number("b"));
    if b <= a {
        return Err(ParamError::relation("b", b, "must be larger than a, or the queue never settles"));
    }
    let law = Pi { target: params.count("target") as f64, alpha: b - a, beta: a };
    Ok(Settings { law, tupdate: params.span("tupdate"), sample: params.count("sample") })
}

fn sizes(params: &Params) -> [usize; 2] {
    ["shadow", "flows"].map(|name| params.count(name) as usize)
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    let settings = settings(params)?;
    let [samples, flows] = sizes(params);
    let shadow = Shadow::new(samples, flows, settings.tupdate);
    Ok(Single::boxed(params, Afd { settings, shadow }))
}

impl Afd {
    /// Samples one packet in `sample` into the shadow buffer, dropped or not.
    #[inline]
    fn observe(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        if cx.below(self.settings.sample) == 0 {
            self.shadow.sample(packet.flow, |bound| cx.below(bound));
        }
    }
}

impl Gate for Afd {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        self.observe(&packet, cx);
        let p = self.shadow.drop_probability(packet.flow);
        if !queue.is_empty() && cx.uniform() < p {
            cx.drop(packet, DropReason::Unfair);
            return None;
        }
        Some(packet)
    }

    #[inline]
    fn overflowed(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        self.observe(packet, cx);
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let settings = settings(params)?;
        for (name, (wanted, now)) in
            ["shadow", "flows"].into_iter().zip(sizes(params).into_iter().zip(self.shadow.sizes()))
        {
            if wanted != now {
                return Err(ParamError::relation(name, wanted, "cannot change while running"));
            }
        }
        self.settings = settings;
        self.shadow.adopt(self.settings.tupdate, cx.now);
        Ok(())
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Time> {
        Some(self.shadow.due())
    }

    fn on_wakeup(&mut self, queue: &Fifo, cx: &mut Cx<'_>) {
        let Settings { law, tupdate, .. } = &self.settings;
        self.shadow.catch_up(law, *tupdate, queue.len() as f64, cx.now);
    }

    fn probe(&self, _queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("fair_count", self.shadow.fair());
        sink("largest_count", f64::from(self.shadow.largest()));
    }

    fn table_bytes(&self) -> usize {
        self.shadow.table_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn flows_with_different_rates_get_equal_shares() {
        // Flow 1 sends eight packets in ten milliseconds, flow 2 four, flow 3 two; eight can leave.
        let mut host = Host::new("afd limit 300p");
        let mut left = [0u32; 3];
        for tick in 0..3000u64 {
            for packet in 0..14 {
                let flow = [1, 1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 3, 2, 1][packet as usize];
                host.put(ms(10 * tick), 14 * tick + packet, flow, 1000);
            }
            for _ in 0..8 {
                let cookie = host.get(ms(10 * tick + 5));
                let flow =
                    cookie.map(|cookie| [1, 1, 2, 1, 3, 1, 2, 1, 1, 2, 1, 3, 2, 1][cookie as usize % 14]);
                if let (Some(flow), true) = (flow, tick > 1000) {
                    left[flow - 1] += 1;
                }
            }
        }
        // Of 16000: 6000 each, but flow 3 sends no more than 4000.
        assert!((5500..6500).contains(&left[0]), "{left:?}");
        assert!((5500..6500).contains(&left[1]), "{left:?}");
        assert!((3800..=4000).contains(&left[2]), "{left:?}");
        // The queue settles at its target of 50 packets between a burst and the next.
        assert!((30..80).contains(&host.qdisc.backlog().packets), "{:?}", host.qdisc.backlog());
    }

    #[test]
    fn every_fifth_packet_is_sampled_and_a_lone_packet_is_never_dropped() {
        // below(5) is zero for numbers below 0.2.
        let mut host = Host::scripted("afd shadow 4", &[0.3, 0.1, 0.19, 0.21, 0.9]);
        (0..5).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        assert_eq!((host.probe("largest_count"), host.probe("fair_count")), (2.0, 4.0));
        let mut host = Host::scripted("afd shadow 4 target 1 sample 1", &[0.0]);
        (0..40).for_each(|cookie| host.put(ms(1), cookie, 7, 1000));
        host.wake_until(ms(7)); // 4 - 1.7 - 1.8 * 39 is below zero
        assert_eq!((host.probe("fair_count"), host.dropped().len()), (0.0, 0));
        host.put(ms(7), 40, 7, 1000);
        assert_eq!(host.dropped(), [40]);
        (0..40).for_each(|_| assert!(host.get(ms(7)).is_some()));
        host.put(ms(7), 41, 7, 1000);
        assert_eq!(host.dropped(), [40]);
    }

    #[test]
    fn the_gains_must_be_in_order_and_tables_keep_their_size() {
        let mut host = Host::new("afd");
        for (name, value) in [("b", "1.7"), ("shadow", "9"), ("flows", "9")] {
            let error = host.qdisc.change(&[(name, value)], ms(0), &mut host.log).unwrap_err();
            assert_eq!(error.param, name);
        }
        host.qdisc.change(&[("sample", "1"), ("b", "2")], ms(0), &mut host.log).unwrap();
    }
}
