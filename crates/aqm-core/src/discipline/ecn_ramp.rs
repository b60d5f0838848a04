//! # What it does
//! One queue that marks arriving packets with a probability that depends on the current queue length: none up to
//! Kmin, rising to Pmax at Kmax, and all beyond.
//!
//! # Reference
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (DCQCN), SIGCOMM 2015, figure 5 and section 5:
//! the marking of data-centre switches, RED on the instantaneous queue.
//!
//! # Parameters
//! See `aqmlab aqm show ecn_ramp`.
//!
//! # Deviations
//! Not-ECT packets are dropped with the same probability (RFC 3168 section 5), unless
//! `unmarkable` is `pass`; the paper's traffic is all ECN-capable. The queue is compared without the arriving packet.
//!
//! # Promises
//! Order kept; signals on arrival only; no signal while at most Kmin is queued; one random number per packet on the
//! ramp.

use super::single::{Gate, Single};
use super::step::{Marker, UNMARKABLE};
use super::{Blueprint, Built, Group, Info, LIMIT, ProbeSpec, Traits};
use crate::backlog::Backlog;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::Fifo;
use crate::units::Size;

/// The registry entry.
pub static INFO: Info = Info {
    name: "ecn_ramp",
    group: Group::QueueLength,
    summary: "Marks on the instantaneous queue: none to Kmin, Pmax at Kmax, all beyond (DCQCN)",
    reference: "Zhu et al. 2015",
    params: &[
        LIMIT,
        ParamSpec::new(
            "kmin",
            Kind::Size,
            Value::Size(Size::Bytes(5 * 1024)),
            (0.0, 1e12),
            "Queue up to which nothing is marked",
            "Zhu 2015 section 5.2: 5 KB at 40 Gbit/s",
        ),
        ParamSpec::new(
            "kmax",
            Kind::Size,
            Value::Size(Size::Bytes(200 * 1024)),
            (0.0, 1e12),
            "Queue at which the probability reaches pmax; beyond it everything is marked",
            "Zhu 2015 section 5.2: 200 KB at 40 Gbit/s",
        ),
        ParamSpec::new(
            "pmax",
            Kind::Fraction,
            Value::Fraction(0.01),
            (0.0, 1.0),
            "Probability at kmax",
            "Zhu 2015 section 5.2: 1 %",
        ),
        UNMARKABLE,
    ],
    presets: &[
        Preset { name: "dcqcn", source: "Zhu et al. 2015, section 5.2, 40 Gbit/s", values: &[] },
        Preset {
            name: "steep",
            source: "a ramp that slow links meet: 5 to 15 packets and 10 %, the thresholds of Floyd and Jacobson 1993",
            values: &[
                ("kmin", Value::Size(Size::Packets(5))),
                ("kmax", Value::Size(Size::Packets(15))),
                ("pmax", Value::Fraction(0.1)),
            ],
        },
    ],
    probes: &[ProbeSpec {
        name: "mark_probability",
        unit: "fraction",
        help: "Probability for a packet that arrives now",
    }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: false,
        reorders_flows: false,
        reorders_within_flow: false,
        quiet_packets: 3,
        flow_state_bytes: 0,
    },
    deviations: "Not-ECT packets are dropped with the same probability unless 'unmarkable' is 'pass'",
    build,
};

#[derive(Clone, Copy)]
struct EcnRamp {
    kmin: Size,
    kmax: Size,
    pmax: f64,
    marker: Marker,
}

impl EcnRamp {
    /// Figure 5 of the paper.
    fn probability(&self, backlog: Backlog) -> f64 {
        let (queue, min, max) = (backlog.in_unit_of(self.kmin), self.kmin.count(), self.kmax.count());
        if queue <= min {
            0.0
        } else if queue <= max {
            self.pmax * (queue - min) as f64 / (max - min) as f64
        } else {
            1.0
        }
    }
}

fn settings(params: &Params) -> Result<EcnRamp, ParamError> {
    let read = |name| params.size(name).expect("it has no auto");
    let (kmin, kmax) = (read("kmin"), read("kmax"));
    if core::mem::discriminant(&kmin) != core::mem::discriminant(&kmax) {
        return Err(ParamError::relation("kmax", kmax, "must be in the unit of kmin"));
    }
    if kmax.count() < kmin.count() {
        return Err(ParamError::relation("kmax", kmax, "must be at least kmin"));
    }
    Ok(EcnRamp { kmin, kmax, pmax: params.number("pmax"), marker: Marker::new(params) })
}

fn build(Blueprint { params, .. }: Blueprint<'_>) -> Built {
    Ok(Single::boxed(params, settings(params)?))
}

impl Gate for EcnRamp {
    #[inline]
    fn admit(&mut self, packet: Packet, queue: &Fifo, cx: &mut Cx<'_>) -> Option<Packet> {
        let p = self.probability(queue.backlog());
        let hit = p > 0.0 && (p >= 1.0 || cx.uniform() < p);
        if hit { self.marker.hit(packet, cx) } else { Some(packet) }
    }

    fn change(&mut self, params: &Params, _cx: &mut Cx<'_>) -> Result<(), ParamError> {
        *self = settings(params)?;
        Ok(())
    }

    fn probe(&self, queue: &Fifo, sink: &mut dyn FnMut(&str, f64)) {
        sink("mark_probability", self.probability(queue.backlog()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};

    #[test]
    fn the_probability_rises_from_kmin_to_pmax_at_kmax_and_then_is_one() {
        let mut host = Host::scripted("ecn_ramp kmin 2p kmax 6p pmax 0.2", &[0.999]);
        let mut seen = alloc::vec::Vec::new();
        for cookie in 0..8 {
            seen.push(host.probe("mark_probability"));
            host.put_ect(ms(0), cookie, 0, 1000);
        }
        assert_eq!(seen, [0.0, 0.0, 0.0, 0.05, 0.1, 0.2 * 3.0 / 4.0, 0.2, 1.0]);
        assert_eq!(host.marked(), [7]);
    }

    #[test]
    fn a_lot_below_the_probability_marks() {
        let mut host = Host::scripted("ecn_ramp kmin 1000b kmax 3000b pmax 0.5", &[0.2, 0.3]);
        (0..4).for_each(|cookie| host.put_ect(ms(0), cookie, 0, 1000));
        // Packet 2 finds 2000 bytes: 0.25 > 0.2. Packet 3 finds 3000: 0.5 > 0.3.
        assert_eq!(host.marked(), [2, 3]);
        host.get(ms(1));
        host.get(ms(1));
        host.put_ect(ms(1), 4, 0, 1000); // 2000 bytes: 0.25 > 0.2
        host.get(ms(1));
        host.put_ect(ms(1), 5, 0, 1000); // 2000 bytes: 0.25 < 0.3
        assert_eq!(host.marked(), [2, 3, 4]);
    }

    #[test]
    fn thresholds_must_be_in_one_unit_and_in_order() {
        let refusal = |spec: &str| {
            let link = crate::link::Link::new(crate::units::Rate::from_mbit(1));
            let spec = crate::spec::Spec::parse(spec).unwrap();
            alloc::string::ToString::to_string(
                &crate::registry::build(spec.info, &spec.params, &link).err().unwrap(),
            )
        };
        assert_eq!(refusal("ecn_ramp kmin 5p"), "parameter 'kmax': '200kb' must be in the unit of kmin");
        assert_eq!(refusal("ecn_ramp kmax 4kb"), "parameter 'kmax': '4kb' must be at least kmin");
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_or_passed_as_asked() {
        let run = |spec| {
            let mut host = Host::scripted(spec, &[0.0]);
            (0..4).for_each(|cookie| host.put(ms(0), cookie, 0, 1000));
            host.dropped()
        };
        assert_eq!(run("ecn_ramp kmin 1p kmax 2p"), [2, 3]);
        assert_eq!(run("ecn_ramp kmin 1p kmax 2p unmarkable pass").len(), 0);
    }
}
