//! # What it does
//! A queue for each flow (by hash), served in rounds of a quantum with new flows first, and CoDel on each.
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
//! it or `drop_batch` packets at a time; one random number in a run, for the hash, when the first packet arrives; 64
//! bytes per flow queue.

use super::codel::{self, FullPacket, MaxPacket};
use super::flow_queueing::{self, FlowLaw, FlowQueueing};
use super::{Blueprint, Built, Group, Info, Traits};
use crate::choices;
use crate::cx::Cx;
use crate::law::codel::{Params as Law, Root, State};
use crate::link::Link;
use crate::packet::Packet;
use crate::params::{Kind, ParamSpec, Params, Preset, Value};
use crate::queue::{Flow, Flows};

/// The registry entry.
pub static INFO: Info = Info {
    name: "fq_codel",
    group: Group::Flow,
    summary: "Flow queueing with CoDel on every flow",
    reference: "RFC 8290",
    params: &[
        flow_queueing::LIMIT,
        flow_queueing::MEMORY_LIMIT,
        flow_queueing::FLOWS,
        flow_queueing::QUANTUM,
        flow_queueing::DROP_BATCH,
        codel::TARGET,
        codel::INTERVAL,
        ParamSpec::flag(
            "ecn",
            true,
            "Mark ECN-capable packets instead of dropping them",
            "RFC 8290 section 5.2.6, tc-fq_codel(8): on",
        ),
        codel::CE_THRESHOLD,
        CE_THRESHOLD_SELECTOR,
        CE_THRESHOLD_MASK,
        codel::CONTROL_LAW,
        codel::MAXPACKET,
        ParamSpec::choice::<Guard>(
            "guard",
            "Whose backlog is compared with maxpacket: the flow's, or that of all flows",
            "RFC 8290 section 4.2: flow; Linux: all",
        ),
    ],
    presets: &[
        Preset { name: "rfc8290", source: "RFC 8290 sections 4 and 5.2, RFC 8289", values: &[] },
        Preset {
            name: "linux",
            source: "fq_codel_dequeue() of Linux 6.1 net/sched/sch_fq_codel.c, codel_dequeue() of include/net/codel_impl.h (behaviour and \
                     defaults)",
            values: &[
                ("control_law", Value::Choice(Root::Newton.word())),
                ("maxpacket", Value::Choice(FullPacket::Mtu.word())),
                ("guard", Value::Choice(Guard::All.word())),
            ],
        },
    ],
    probes: &[flow_queueing::ACTIVE_FLOWS],
    traits: Traits {
        wakes: false,
        ecn: true,
        drops_queued: true,
        reorders_flows: true,
        reorders_within_flow: false,
        quiet_packets: 1,
        flow_state_bytes: size_of::<Flow<State>>(),
    },
    deviations: "credits of zero end a turn; a full queue drops half of a flow's bytes, not packets; memory_limit counts packet bytes; linux: batch drops do not raise CoDel's count",
    build,
};

choices! {
    /// Whose backlog is compared with a full packet.
    enum Guard {
        Flow = "flow",
        All = "all",
    }
}

const CE_THRESHOLD_SELECTOR: ParamSpec = ParamSpec::new(
    "ce_threshold_selector",
    Kind::Count,
    Value::Count(0),
    (0.0, 255.0),
    "DS field, under ce_threshold_mask, of the packets that ce_threshold marks (1 under mask 3: ECT(1), that is L4S)",
    "tc-fq_codel(8): every packet",
);

const CE_THRESHOLD_MASK: ParamSpec = ParamSpec::new(
    "ce_threshold_mask",
    Kind::Count,
    Value::Count(0),
    (0.0, 255.0),
    "Bits of the DS field that ce_threshold_selector is compared with (0: every packet is meant)",
    "tc-fq_codel(8): every packet",
);

/// CoDel for every flow.
struct CoDelFlows {
    law: Law,
    max_packet: MaxPacket,
    guard_all: bool,
}

fn build(Blueprint { params, link, .. }: Blueprint<'_>) -> Built {
    let max_packet = MaxPacket::new(params, link.mtu);
    let guard_all = params.choice::<Guard>("guard") == Guard::All;
    Ok(FlowQueueing::boxed(params, link, CoDelFlows { law: codel::law(params), max_packet, guard_all }))
}

impl FlowLaw for CoDelFlows {
    type State = State;

    fn change(&mut self, params: &Params, _link: &Link) {
        self.law = codel::law(params);
        self.guard_all = params.choice::<Guard>("guard") == Guard::All;
    }

    #[inline]
    fn see(&mut self, length: u32) {
        self.max_packet.see(length);
    }

    #[inline]
    fn dequeue(&self, flows: &mut Flows<State>, flow: usize, cx: &mut Cx<'_>) -> Option<Packet> {
        let (mut head, state) = flows.head(flow, self.guard_all);
        self.law.dequeue(state, &mut head, self.max_packet.bytes(), cx)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Host, ms};
    use crate::signal::DropReason;
    use alloc::format;
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
    fn the_selector_says_whom_the_ce_threshold_is_for() {
        let run = |selector: &str| {
            let mut host = Host::new(&format!("fq_codel ce_threshold 1ms {selector}"));
            (0..3).for_each(|cookie| host.put_ect(ms(0), cookie, 1, 1000));
            (0..3).for_each(|cookie| assert_eq!(host.get(ms(2)), Some(cookie)));
            host.marked()
        };
        assert_eq!(run(""), [0, 1, 2]);
        assert_eq!(run("ce_threshold_selector 1 ce_threshold_mask 3"), [0; 0]); // they are ECT(0)
        assert_eq!(run("ce_threshold_selector 2 ce_threshold_mask 3"), [0, 1, 2]);
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
