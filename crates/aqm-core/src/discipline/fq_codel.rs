//! # What it does
//! A queue for each flow (by hash), served in rounds of a quantum with flows that start first, and CoDel on each.
//!
//! # Reference
//! RFC 8290; `linux`: the parameters and the arithmetic of Linux `sch_fq_codel`.
//!
//! # Parameters
//! See `aqmlab aqm show fq_codel`.
//!
//! # Deviations
//! A flow gives way when its credits are used up, zero included (RFC 8290 section 4.2 says "negative", and explains it
//! as "at least a quantum"). A full queue drops half of the flow's bytes, as Linux does (section 4.1: half of its
//! packets). `memory_limit` counts the bytes of packets, not of buffers. `linux`: a drop of a batch does
//! not raise CoDel's count. The number of flows cannot change while running (as in Linux).
//!
//! # Promises
//! Packets of one flow stay in order; a full queue drops from the head of the flow with the most bytes, up to half of
//! it or `drop_batch` packets at a time; one random number in a run, for the hash, when the first packet comes; 64
//! bytes per flow queue.

use super::codel::{self, MaxPacket};
use super::{Backlog, Built, Discipline, Group, Info, Link, ProbeSpec, Traits};
use crate::cx::Cx;
use crate::law::codel::{Params as Law, State};
use crate::packet::Packet;
use crate::params::{Kind, ParamError, ParamSpec, Params, Preset, Value};
use crate::queue::{Flow, Flows};
use crate::signal::DropReason;
use crate::sketch::mix;
use crate::units::{Bytes, Size, Time};
use alloc::boxed::Box;

/// The registry entry.
pub static INFO: Info = Info {
    name: "fq_codel",
    group: Group::Flow,
    summary: "Flow queueing with CoDel on every flow",
    reference: "RFC 8290",
    params: &[
        ParamSpec::new(
            "limit",
            Kind::Size,
            Value::Size(Size::Packets(10_240)),
            (1.0, 1e12),
            "Most packets or bytes that wait in all flows",
            "RFC 8290 section 5.2.3: 10240 packets",
        ),
        ParamSpec::new(
            "memory_limit",
            Kind::Bytes,
            Value::Bytes(Bytes::new(32 << 20)),
            (1.0, 1e12),
            "Most bytes that wait in all flows",
            "tc-fq_codel(8): 32 MB",
        ),
        ParamSpec::new(
            "flows",
            Kind::Count,
            Value::Count(1024),
            (1.0, 65_536.0),
            "Flow queues that packets are hashed to",
            "RFC 8290 section 5.2.5: 1024",
        ),
        ParamSpec::new(
            "quantum",
            Kind::Bytes,
            Value::Bytes(Bytes::new(1514)),
            (64.0, 1e6),
            "Bytes that a flow may send in a round",
            "RFC 8290 section 5.2.4: 1514 bytes",
        ),
        ParamSpec::new(
            "drop_batch",
            Kind::Count,
            Value::Count(64),
            (1.0, 1e6),
            "Most packets that a full queue drops at a time",
            "RFC 8290 section 4.1.3, tc-fq_codel(8): 64",
        ),
        codel::TARGET,
        codel::INTERVAL,
        ParamSpec::flag(
            "ecn",
            true,
            "Mark instead of drop where the transport understands it",
            "RFC 8290 section 5.2.6, tc-fq_codel(8): on",
        ),
        codel::CE_THRESHOLD,
        codel::CONTROL_LAW,
        codel::MAXPACKET,
        ParamSpec::choice(
            "guard",
            &["flow", "all"],
            "Whose backlog is compared with maxpacket: the flow's, or that of all flows",
            "RFC 8290 section 4.2: flow; Linux: all",
        ),
    ],
    presets: &[
        Preset { name: "rfc8290", source: "RFC 8290 sections 4 and 5.2, RFC 8289", values: &[] },
        Preset {
            name: "linux",
            source: "Linux 6.1 net/sched/sch_fq_codel.c, include/net/codel_impl.h (behaviour and defaults)",
            values: &[
                ("control_law", Value::Choice("newton")),
                ("maxpacket", Value::Choice("mtu")),
                ("guard", Value::Choice("all")),
            ],
        },
    ],
    probes: &[ProbeSpec { name: "active_flows", unit: "flows", help: "Flow queues on the lists of DRR++" }],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        quiet_packets: 1,
        flow_state_bytes: size_of::<Flow<State>>(),
    },
    deviations: "credits of zero end a turn; a full queue drops half of a flow's bytes, not packets; memory_limit counts packet bytes; linux: batch drops do not raise CoDel's count",
    build,
};

struct Settings {
    limit: Size,
    memory_limit: u64,
    quantum: u32,
    drop_batch: u64,
    law: Law,
    guard_all: bool,
}

struct FqCodel {
    flows: Flows<State>,
    settings: Settings,
    max_packet: MaxPacket,
    /// Salt of the hash; drawn when the first packet comes.
    perturbation: Option<u64>,
}

fn settings(params: &Params) -> Settings {
    Settings {
        limit: params.size("limit").expect("limit has no auto"),
        memory_limit: params.bytes("memory_limit").expect("memory_limit has no auto").as_u64(),
        quantum: params.bytes("quantum").expect("quantum has no auto").as_u64() as u32,
        drop_batch: params.count("drop_batch"),
        law: codel::law(params),
        guard_all: params.choice("guard") == "all",
    }
}

fn build(params: &Params, link: &Link) -> Built {
    Ok(Box::new(FqCodel {
        flows: Flows::new(params.count("flows") as usize),
        settings: settings(params),
        max_packet: MaxPacket::new(params, link.mtu),
        perturbation: None,
    }))
}

impl FqCodel {
    /// The flow queue of `flow`.
    #[inline]
    fn classify(&mut self, flow: u64, cx: &mut Cx<'_>) -> usize {
        let perturbation = *self.perturbation.get_or_insert_with(|| cx.below(u64::MAX));
        let hash = mix(flow ^ perturbation);
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize
    }

    fn over(&self) -> bool {
        let backlog = self.flows.backlog();
        backlog.exceeds(self.settings.limit) || backlog.bytes > self.settings.memory_limit
    }

    /// Section 4.1.3: drops from the head of the fattest flow, half of it or a batch, until the limits are kept.
    #[cold]
    fn shrink(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        while self.over() {
            let fattest = self.flows.fattest();
            let half = self.flows.bytes(fattest) / 2;
            for _ in 0..self.settings.drop_batch {
                let Some(packet) = self.flows.pop(fattest) else { break };
                cx.drop(packet, reason);
                if self.flows.bytes(fattest) <= half {
                    break;
                }
            }
        }
    }
}

impl Discipline for FqCodel {
    #[inline]
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let flow = self.classify(packet.flow, cx);
        self.max_packet.see(packet.length);
        self.flows.push(flow, packet, self.settings.quantum);
        if self.over() {
            self.shrink(DropReason::Overlimit, cx);
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let flow = self.flows.select(self.settings.quantum)?;
            let (mut head, state) = self.flows.head(flow, self.settings.guard_all);
            match self.settings.law.dequeue(state, &mut head, self.max_packet.bytes(), cx) {
                Some(packet) => {
                    self.flows.charge(flow, packet.length);
                    return Some(packet);
                }
                None => self.flows.retire(flow),
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn change(&mut self, params: &Params, cx: &mut Cx<'_>) -> Result<(), ParamError> {
        let flows = params.count("flows");
        if flows != self.flows.len() as u64 {
            return Err(ParamError::relation("flows", flows, "cannot change while packets may wait"));
        }
        self.settings = settings(params);
        self.shrink(DropReason::Reconfigured, cx);
        Ok(())
    }

    fn purge(&mut self, cx: &mut Cx<'_>) {
        self.flows.purge(cx);
    }

    fn probe(&self, _now: Time, sink: &mut dyn FnMut(&str, f64)) {
        sink("active_flows", f64::from(self.flows.active()));
    }

    fn state_bytes(&self) -> usize {
        size_of::<FqCodel>() + self.flows.len() * size_of::<Flow<State>>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_flow_that_starts_overtakes_one_with_a_backlog() {
        let mut host = Host::new("fq_codel");
        (0..5).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!(host.get(ms(0)), Some(0));
        host.put(ms(0), 10, 2, 100);
        let order: Vec<_> = core::iter::from_fn(|| host.get(ms(0))).collect();
        assert_eq!(order, [10, 1, 2, 3, 4]);
    }

    #[test]
    fn codel_keeps_its_state_for_each_flow() {
        // Flow 1 has stood above the target for an interval; flow 2 has just come.
        let mut host = Host::new("fq_codel noecn");
        (0..6).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
        assert_eq!(host.get(ms(10)), Some(0)); // above: first_above_time = 110 ms
        (10..16).for_each(|cookie| host.put(ms(50), cookie, 2, 1514));
        assert_eq!(host.get(ms(110)), Some(10)); // new; above from here on
        assert_eq!(host.get(ms(110)), Some(2)); // drops 1
        assert_eq!(host.get(ms(110)), Some(11));
        assert_eq!(host.dropped(), [1]);
    }

    #[test]
    fn a_full_queue_drops_half_of_the_fattest_flow_from_its_head() {
        let mut host = Host::new("fq_codel limit 10p drop_batch 64");
        (0..8).for_each(|cookie| host.put(ms(0), cookie, 1, 1000));
        (10..12).for_each(|cookie| host.put(ms(0), cookie, 2, 1000));
        assert_eq!(host.dropped().len(), 0);
        host.put(ms(0), 12, 2, 1000); // flow 1 has 8000 bytes: four packets go
        assert_eq!(host.dropped(), [0, 1, 2, 3]);
        assert!(host.log.dropped.iter().all(|(_, reason)| *reason == DropReason::Overlimit));

        let mut host = Host::new("fq_codel memory_limit 8000b drop_batch 2");
        (0..9).for_each(|cookie| host.put(ms(0), cookie, 1, 1000));
        assert_eq!(host.dropped(), [0, 1]);
    }

    #[test]
    fn marks_come_before_drops_where_ecn_is_understood() {
        let mut host = Host::new("fq_codel");
        (0..6).for_each(|cookie| host.put_ect(ms(0), cookie, 1, 1514));
        host.get(ms(10));
        assert_eq!(host.get(ms(110)), Some(1));
        assert_eq!((host.marked(), host.dropped().len()), (alloc::vec![1], 0));
    }

    #[test]
    fn linux_guards_by_the_backlog_of_all_flows() {
        let run = |spec: &str| {
            let mut host = Host::new(spec);
            (0..40).for_each(|cookie| host.put(ms(0), cookie, 2, 1514));
            (100..103).for_each(|cookie| host.put(ms(0), cookie, 1, 1514));
            assert_eq!([host.get(ms(10)), host.get(ms(10))], [Some(0), Some(100)]); // above from here on
            assert_eq!(host.get(ms(120)), Some(2));
            host.get(ms(120));
            host.dropped()
        };
        // Flow 1 leaves one packet of 1514 bytes behind, which is no reason to drop, unless all 38 count.
        assert_eq!(run("fq_codel noecn"), [1]);
        assert_eq!(run("fq_codel:linux noecn"), [1, 101]);
    }
}
